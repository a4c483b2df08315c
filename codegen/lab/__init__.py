"""Lab: models on many boards at a time, each board doing one job after the other.

In: an inventory (lab.toml, or an environment of labgrid) and models. Out: one result a model and board, as a
table, JUnit XML and a page. Start with `working`.
"""

from codegen.lab.inventory import Lab, LabBoard, read_lab
from codegen.lab.job import Bench
from codegen.lab.junit import junit
from codegen.lab.lab_page import lab_page
from codegen.lab.results import JobResult, State, exit_code_of
from codegen.lab.working import Told, run_lab

__all__ = [
    "Bench",
    "JobResult",
    "Lab",
    "LabBoard",
    "State",
    "Told",
    "exit_code_of",
    "junit",
    "lab_page",
    "read_lab",
    "run_lab",
]
