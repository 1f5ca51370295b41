"""Who is admitted: vLLM's scheduler at the level of steps, tokens and blocks, without a model.

`simulate.simulate(pool, workload, limits, scheduling, release)` says what becomes of a workload: how many requests run
at once, from which step somebody waits and for what, when somebody is thrown back, how full the pool becomes.
`users.most_users` looks for the largest number of users before that happens. What is simulated is what a release does:
queues, the token budget of a step, chunks of prompts, blocks of every group, prefix caching with its order of reuse,
preemption, asynchronous scheduling. `tests/engine` holds every step against the engine's own scheduler.

What is assumed
- Time is counted in steps. A step takes what it takes; a caller who thinks in seconds converts.
- A request comes before a step and is in the queue when that step is scheduled. A user sends the next request before
  the step after the one that brought the last token: no network, no tokenizer, no thinking unless a pause is given.
- An answer has exactly the tokens that are given, and the engine knows it (max_tokens): an answer that ends by itself
  costs an overlapped engine one token more.
- First come, first served. No priorities, adapters, pictures, encoders, connectors, nor speculative decoding; prompts
  are chunked; one engine without pipeline stages. Of several data parallel engines, each is simulated by itself.
- Prompts share what `prefix_tokens` says and nothing else; whole blocks are found again, as by default. States kept
  inside a block (--prefix-match-unit, checkpoints of a prompt), gaps between a prompt and its window, and the replay of
  compressed windows after a hit (DeepSeek V4, from 0.31 on) are left out.
- Releases before 0.8.5 took blocks ahead of their tokens, or were another engine: they are refused.
"""
