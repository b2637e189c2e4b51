"""Takes the iteration out of cronsim.py, by names alone: this file holds none of the package's code.

Functions in REMOVED vanish with their comments; those in EMPTIED keep their first line and raise NotImplementedError.
Fails when a name is missing, so that another version of the package cannot pass unnoticed.
"""
import ast
import sys

OWNER = "CronSim"
KEPT = {"__init__", "explain"}
EMPTIED = {"__iter__", "__next__"}
REMOVED_FUNCTIONS = {"is_imaginary", "last_weekday"}


def main(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    module = ast.parse("\n".join(lines))
    owner = one(node for node in module.body if isinstance(node, ast.ClassDef) and node.name == OWNER)
    methods = functions(owner)
    missing = (KEPT | EMPTIED) - {method.name for method in methods}
    if missing:
        sys.exit(f"{OWNER} has no {', '.join(sorted(missing))}")
    edits = [(method, method.name in EMPTIED) for method in methods if method.name not in KEPT]
    for name in REMOVED_FUNCTIONS:
        edits.append((one(node for node in functions(module) if node.name == name), False))
    for node, is_emptied in sorted(edits, key=lambda edit: edit[0].lineno, reverse=True):
        replace(lines, node, is_emptied)
    text = "\n".join(lines)
    names = {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
    left = names & (REMOVED_FUNCTIONS | ({method.name for method in methods} - KEPT - EMPTIED))
    if left:
        sys.exit(f"still there: {', '.join(sorted(left))}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def functions(parent):
    return [node for node in parent.body if isinstance(node, ast.FunctionDef)]


def one(nodes):
    found = list(nodes)
    if len(found) != 1:
        sys.exit(f"expected one, found {len(found)}")
    return found[0]


def replace(lines, node, is_emptied):
    start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
    end = node.end_lineno
    while end < len(lines) and not lines[end].strip():
        end += 1
    if is_emptied:
        indent = " " * (node.body[0].col_offset)
        lines[node.body[0].lineno - 1:end] = [f"{indent}raise NotImplementedError", ""]
    else:
        del lines[start:end]


if __name__ == "__main__":
    main(sys.argv[1])
