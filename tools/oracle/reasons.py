"""The functions that no section compares with PyTorch, each with its reason. A function of the headers that is neither
here nor in a section fails the run, and so does an unneeded line.
"""
import glob
import os
import re
import sys

from binding import ROOT

sys.path.insert(0, os.path.join(ROOT, "tools"))
from functions import modules, optimizers  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
# called by made-up names, as hd_..._defaults are
DYNAMIC = {f"hd_{row.kind}_new" for row in optimizers.ROWS} | {
    name for row in modules.ROWS if row.arguments for name in (row.name, row.call)}

REASONS = {
    "PyTorch has no counterpart: errors, warnings and memory are tested in tests/base":
        """hd_error_set hd_fail hd_error_count hd_on_error hd_error_abort hd_error_print hd_on_warning hd_warn
        hd_warning_print hd_alloc hd_free hd_set_allocator hd_empty_cache hd_bytes_live hd_bytes_peak
        hd_bytes_peak_reset hd_system_allocs hd_shutdown hd_version hd_num_threads hd_set_debug""",
    "PyTorch's engine has it inside only; tests/ops/engine/test_backward_end.c tests it, and tests/mpi the averages":
        "hd_on_backward_end hd_backward_depth hd_set_backward_grad",
    "Python counts references; tests/tensor has the scopes":
        """hd_assign hd_scope_open_at hd_scope_return hd_scope_report hd_scope_count hd_tensor_count
        hd_tensor_report hd_profile
        hd_scope_cleanup hd_grad_mode_cleanup""",
    "it is part of the headers' macros, or makes a number of C":
        """hd_scalar_int hd_scalar_double hd_scalar_self hd_tensor_of_checked hd_from_data_checked
        hd_wrap_checked hd_dtype_name hd_dtype_size hd_ctx_user hd_print_short hd_print_full
        hd_call_begin hd_call_end hd_call_cleanup""",
    "its values are undefined":
        "hd_empty_n hd_empty_like",
    "it writes a text that hd_repr, hd_list_repr or hd_module_summary gives, which are compared":
        "hd_fprint hd_fprint_list hd_module_print",
    "tests/nn has it; in Python it is a field of the module":
        "hd_dropout_p hd_gelu_approximate hd_norm_eps",
    "tests/nn has it; Python loops over parameters":
        "hd_module_num_parameters",
    "tests/nn has it; PyTorch makes a module without values in another way":
        "hd_set_init_mode hd_init_mode_cleanup",
    "tests/ops compares it with transformers' formulas":
        "hd_rotary_tables",
    "tests/data compares it with the values in data.txt; it calls a function of C":
        "hd_dataset_new hd_loader_next_list hd_collate_pad",
    "tests/data compares it with tiktoken's ids":
        "hd_tokenizer_bpe",
    "tests/data has it; PyTorch has no file of tokens":
        """hd_tokens_open hd_tokens_write hd_tokens_read hd_tokens_split hd_tokenizer_id
        hd_tokenizer_decode_bytes""",
}


def missing(hd, rows):
    """The faults of this page, as lines."""
    text = ""
    for path in glob.glob(os.path.join(HERE, "*.py")):
        if os.path.basename(path) not in ("reasons.py", "known.py", "difference.py", "faults.py"):
            with open(path, encoding="utf-8") as f:
                text += f.read()
    used = set(rows) | set(re.findall(r"hd_\w+", text)) | DYNAMIC | {n for n in hd.decls if n.endswith("_defaults")}
    given = [name for names in REASONS.values() for name in names.split()]
    found = ["%s has no row, no section and no reason" % n for n in hd.decls
             if n not in used and n not in given]
    found += ["reasons.py: %s is compared, or gone" % n for n in given if n in used or n not in hd.decls]
    return found
