"""Room that the engine makes for adapters beside a real model, built without memory.

Knows how to have the engine wrap the modules of a model on torch's meta device. Does not count: torch says how large a
tensor is and the engine says which tensors there are.
"""

import torch

from judge import defaults, edges, models, ops, world
from judge.parts import Part


def warm_up():
    """Import, with the device chosen, what every model needs."""
    models.warm_up()


def adapters(config, flags=None, tp=1):
    """Bytes of the stacked matrices by module, of the first of `tp` ranks."""
    cfg = defaults.resolved(config, {"enable_lora": True, **(flags or {}), "tensor_parallel_size": tp})
    world.pretend(tp=tp, pp=1, rank=0)
    built = models._build(cfg)
    from vllm.config import set_current_vllm_config
    from vllm.lora.model_manager import LoRAModelManager

    class Manager(LoRAModelManager):
        """Has no kernels, which would want a device."""

        def _init_punica_wrapper(self, *_args, **_kwargs):
            self.supports_mm = False
            self.punica_wrapper_mapping = {}

        def _get_punica_wrapper(self, _name):
            return Part()

    with ops.building(), edges.without_device(), set_current_vllm_config(cfg), torch.device("meta"):
        found = Manager(
            built,
            cfg.scheduler_config.max_num_seqs,
            cfg.scheduler_config.max_num_batched_tokens,
            cfg.model_config.get_vocab_size(),
            cfg.lora_config,
            torch.device("meta"),
            cfg,
        )
    return {name: sum(map(_size, _stacked(module))) for name, module in found.modules.items()}


def _stacked(module):
    """Every tensor once; experts hold views of theirs beside them."""
    seen = {}
    for value in vars(module).values():
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, torch.Tensor) and each.dim() > 1 and each._base is None:
                seen[id(each)] = each
    return seen.values()


def _size(tensor):
    return tensor.numel() * tensor.element_size()
