"""The whole engine in this process, with a real model: what becomes of a workload, step by step.

Knows how requests are put before a certain step of `LLMEngine`, and what its scheduler looks like afterwards. Nothing
is faked: the model computes every token. Reads one question as JSON on stdin, writes the answer to the file it names.

    {"answer": path, "model": folder, "engine": {…EngineArgs…}, "users": [{"start", "pause", "requests": [[prompt,
     answer, prefix, family]]}]}
"""

import heapq
import json
import random
import sys
from pathlib import Path


class Counter:
    """Puts requests before steps, and counts who runs after each was scheduled."""

    def __init__(self, engine, users):
        self.engine, self.users = engine, users
        self.scheduler = engine.engine_core.engine_core.scheduler
        self.now = self.count = 0
        self.orders = len(users)
        self.coming = [(user["start"], number, number, 0) for number, user in enumerate(users)]
        heapq.heapify(self.coming)
        self.seen, self.whose = [], {}
        self.schedule, self.scheduler.schedule = self.scheduler.schedule, self.watched

    def watched(self, *args, **kwargs):
        """The engine's own step, then a look at its queues."""
        self.now += 1
        before = {request.request_id for request in self.scheduler.running}
        output = self.schedule(*args, **kwargs)
        running, waiting = self.scheduler.get_request_counts()
        thrown = before - {request.request_id for request in self.scheduler.running}
        free = self.scheduler.kv_cache_manager.block_pool.get_num_free_blocks()
        self.seen.append([self.now, running, waiting, len(thrown), free])
        return output

    def run(self):
        """Until everybody is answered."""
        while self.coming or self.engine.has_unfinished_requests():
            if not self.engine.has_unfinished_requests():
                self.now = max(self.now, self.coming[0][0] - 1)
            while self.coming and self.coming[0][0] <= self.now + 1:
                _, _, user, place = heapq.heappop(self.coming)
                self.arrive(user, place)
            for output in self.engine.step():
                if output.finished:
                    self.ended(output.request_id)
        return self.seen

    def arrive(self, user, place):
        """Send one request: the tokens of its family, then its own."""
        from vllm import SamplingParams

        prompt, answer, prefix, family = self.users[user]["requests"][place]
        shared, own = random.Random(family), random.Random(1000 + self.count)  # noqa: S311 - no secrets
        tokens = [shared.randrange(3, 500) for _ in range(prefix)]
        tokens += [own.randrange(3, 500) for _ in range(prompt - prefix)]
        name = str(self.count)
        self.count += 1
        self.whose[name] = (user, place)
        limit = SamplingParams(max_tokens=answer, ignore_eos=True, temperature=0, detokenize=False)
        self.engine.add_request(name, {"prompt_token_ids": tokens}, limit)

    def ended(self, name):
        """Its user sends the next."""
        user, place = self.whose[name]
        if place + 1 < len(self.users[user]["requests"]):
            self.orders += 1
            due = self.now + 1 + self.users[user]["pause"]
            heapq.heappush(self.coming, (due, self.orders, user, place + 1))


def main():
    """Answer the one question."""
    asked = json.load(sys.stdin)
    from vllm import EngineArgs, LLMEngine

    engine = LLMEngine.from_engine_args(EngineArgs(model=asked["model"], **asked["engine"]))
    seen = Counter(engine, asked["users"]).run()
    chosen = engine.vllm_config
    answer = {
        "seen": seen,
        "blocks": chosen.cache_config.num_gpu_blocks,
        "block_tokens": chosen.cache_config.block_size,
        "overlapped": bool(chosen.scheduler_config.async_scheduling),
        "in_flight": chosen.max_concurrent_batches,
        "prefix_caching": bool(chosen.cache_config.enable_prefix_caching),
    }
    Path(asked["answer"]).write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
