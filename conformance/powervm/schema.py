"""Writes the simulator's schema table: which child elements an element has, in which order, with which attributes.

The order is the one in which elements stand in the responses that IBM recorded and ships with pypowervm, completed by the
order in which its wrappers write elements that no recording has. One line per element:

    Parent[*]: Child[=kb][@group] ...

`*` says that the parent starts with Metadata; `kb` is the behaviour code of the child; `group` its extended group.

Usage: schema.py > ../../crates/simulator/src/powervm/schema.txt (with the virtualenv of this suite)
"""

import glob
import importlib
import os
import pkgutil
import re
from collections import Counter, defaultdict

import pypowervm.wrappers
from lxml import etree
from pypowervm.wrappers import entry_wrapper

ATOM = "http://www.w3.org/2005/Atom"
DATA = os.path.join(os.path.dirname(pypowervm.__file__), "tests", "data")


def recorded():
    """The XML documents of all recordings."""
    for path in sorted(glob.glob(DATA + "/*")):
        if os.path.isdir(path):
            continue
        text = open(path, encoding="utf-8", errors="replace").read()
        bodies = re.findall(r"BODY\{\s*(.*?)\s*END OF SECTION\}", text, re.S) or ([text] if path.endswith(".xml") else [])
        for body in bodies:
            try:
                yield etree.fromstring(body.encode())
            except etree.XMLSyntaxError:
                pass


def local(element):
    return etree.QName(element).localname


def sequences():
    """Pairs of an element name and an order in which some of its children stand."""
    for module in pkgutil.iter_modules(pypowervm.wrappers.__path__):
        importlib.import_module("pypowervm.wrappers." + module.name)

    def classes(base):
        for cls in base.__subclasses__():
            yield cls
            yield from classes(cls)

    for cls in sorted(set(classes(entry_wrapper.Wrapper)), key=lambda cls: (cls.__module__, cls.__qualname__)):
        order = getattr(cls, "_child_order", ())
        if order and cls.schema_type:
            yield cls.schema_type, list(order), 1


def main():
    votes = defaultdict(Counter)  # parent -> (before, after) -> weight
    children = defaultdict(dict)
    codes = defaultdict(Counter)
    groups = {}
    metadata = Counter()

    def learn(parent, order, weight):
        order = list(dict.fromkeys(order))
        for index, name in enumerate(order):
            children[parent].setdefault(name, len(children[parent]))
            for later in order[index + 1 :]:
                votes[parent][name, later] += weight

    for document in recorded():
        for element in document.iter():
            if not isinstance(element.tag, str) or etree.QName(element).namespace == ATOM:
                continue
            kids = [kid for kid in element if isinstance(kid.tag, str)]
            if not kids:
                continue
            parent = local(element)
            metadata[parent, local(kids[0]) == "Metadata"] += 1
            learn(parent, [local(kid) for kid in kids], 1000)
            for kid in kids:
                if kid.get("kb"):
                    codes[parent, local(kid)][kid.get("kb")] += 1
                if kid.get("group") and kid.get("group") != "None":
                    groups[parent, local(kid)] = kid.get("group")
    for parent, order, weight in sequences():
        learn(parent, order, weight)

    for parent in sorted(children):
        names, order = sorted(children[parent], key=children[parent].get), []
        while names:
            before = lambda name: sum(votes[parent][other, name] > votes[parent][name, other] for other in names)
            first = min(names, key=lambda name: (before(name), children[parent][name]))
            names.remove(first)
            order.append(first)
        words = []
        for name in order:
            if name == "Metadata":
                continue
            code = codes[parent, name].most_common(1)
            group = groups.get((parent, name))
            words.append(name + (f"={code[0][0]}" if code else "") + (f"@{group}" if group else ""))
        star = "*" if metadata[parent, True] or (parent, False) not in metadata and "Metadata" in children[parent] else ""
        if words:
            print(f"{parent}{star}: {' '.join(words)}")


main()
