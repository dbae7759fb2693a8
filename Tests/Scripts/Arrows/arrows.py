#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MPL-2.0
"""Arrows between the folders of each module in Sources. A cycle is an error.

Usage: arrows.py [--all] [MODULE…]

A folder points at another if one of its Swift files

- names a type that the other folder declares: in code, not in comments or text. The names of nested types are looked up
  in the enclosing types, from the inside out. Generic parameters hide types. An extension mentions the type that it
  extends.
- uses a member that the other folder declares in an extension of a type from elsewhere. Only members whose name is
  declared in no other folder of all modules count, because the type of an expression is not known here.

Prints each arrow with the number of mentions and the first of them. For a cycle, prints the shortest one with the
mentions of its weakest arrow, and exits with status 1. With --all, prints the mentions of all arrows among the folders
of the cycle.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOKEN = re.compile(r"[A-Za-z_]\w*|[0-9]\w*|\S|\n")
PLAIN = re.compile(r'[^"/#()]+')
STRING = re.compile(r'(#*)("""|")')
BLANKED = re.compile(r"[^\n]")
KINDS = {"struct", "class", "enum", "protocol", "actor"}

Mention = collections.namedtuple("Mention", "path line name")


def without_text(source):
    """The source with comments and the text of strings replaced by spaces. Interpolated code stays."""
    out = []
    index = 0

    def blank(end):
        nonlocal index
        out.append(BLANKED.sub(" ", source[index:end]))
        index = end

    def string():
        opening = STRING.match(source, index)
        hashes, quotes = opening.groups()
        end = quotes + hashes
        escape = "\\" + hashes
        text = re.compile(f"[^{quotes[0]}\\\\]+")
        blank(opening.end())
        while index < len(source):
            if source.startswith(end, index):
                return blank(index + len(end))
            if source.startswith(escape + "(", index):
                blank(index + len(escape))
                code(is_nested=True)
            elif source.startswith(escape, index):
                blank(index + len(escape) + 1)
            else:
                plain = text.match(source, index)
                blank(plain.end() if plain else index + 1)

    def code(is_nested=False):
        nonlocal index
        depth = 0
        while index < len(source):
            plain = PLAIN.match(source, index)
            if plain:
                out.append(plain[0])
                index = plain.end()
            elif source.startswith("//", index):
                end = source.find("\n", index)
                blank(len(source) if end < 0 else end)
            elif source.startswith("/*", index):
                level, end = 1, index + 2
                while level and end < len(source):
                    step = {"/*": 1, "*/": -1}.get(source[end : end + 2], 0)
                    level, end = level + step, end + (2 if step else 1)
                blank(end)
            elif STRING.match(source, index):
                string()
            else:
                character = source[index]
                out.append(character)
                index += 1
                depth += {"(": 1, ")": -1}.get(character, 0)
                if is_nested and depth == 0:
                    return

    code()
    return "".join(out)


def generics(tokens, index):
    """The names of the generic parameters in the angle brackets that begin here, if any."""
    names = []
    if index < len(tokens) and tokens[index][0] == "<":
        depth, is_name = 0, False
        while index < len(tokens):
            text = tokens[index][0]
            depth += {"<": 1, ">": -1}.get(text, 0)
            if depth == 0:
                break
            if is_name and text not in ("let", "each"):
                names.append(text)
            is_name = depth == 1 and text in "<," or (is_name and text in ("let", "each"))
            index += 1
    return names


class File:
    def __init__(self, path, module):
        self.path = path
        self.folder = "(top)" if path.parent == module else str(path.parent.relative_to(module))
        self.tokens = []
        line = 1
        for match in TOKEN.finditer(without_text(path.read_text(encoding="utf-8"))):
            if match[0] == "\n":
                line += 1
            else:
                self.tokens.append((match[0], line))

    def read(self, declare, mention):
        """Calls `declare` with each type and `mention` with each chain of names."""
        tokens = self.tokens
        scopes = []  # (depth of braces, path of the type, names of generic parameters)
        pending = None
        depth = 0
        index = 0
        while index < len(tokens):
            text, line = tokens[index]
            previous = tokens[index - 1][0] if index else ""
            following = tokens[index + 1][0] if index + 1 < len(tokens) else ""
            outer = scopes[-1][1] if scopes else ()
            if text == "{":
                depth += 1
                if pending:
                    scopes.append((depth, *pending))
                    pending = None
            elif text == "}":
                if scopes and scopes[-1][0] == depth:
                    scopes.pop()
                depth -= 1
            elif text in KINDS and previous != "." and re.match(r"[A-Z]", following):
                path = outer + (following,)
                names = generics(tokens, index + 2)
                declare(path, self, names)
                pending = (path, names)
                index += 2
                continue
            elif text == "extension" and re.match(r"[A-Z]", following):
                chain, index = self.chain(index + 1)
                mention(chain, self, line, scopes)
                pending = (tuple(chain), [])
                continue
            elif text in ("func", "init", "subscript") and previous != ".":
                # Its generic parameters hide types until the next declaration.
                at = index + (2 if text == "func" else 1)
                names = generics(tokens, at)
                if names:
                    pending = (outer, names)
            elif text == "associatedtype" or text == "typealias":
                declare(outer + (following,), None, [])
                index += 2
                continue
            elif re.match(r"[A-Z]", text) and previous != "." and text != "Self":
                chain, index = self.chain(index)
                hidden = pending[1] if pending else []
                if chain[0] not in hidden and not any(chain[0] in names for _, _, names in scopes):
                    mention(chain, self, line, scopes)
                continue
            index += 1

    def members(self):
        """Each name of a function, variable or case with the type whose extension has it for others to use, or None."""
        scopes = []
        pending = None
        depth = 0
        for index, (text, _) in enumerate(self.tokens):
            following = self.tokens[index + 1][0] if index + 1 < len(self.tokens) else ""
            previous = self.tokens[index - 1][0] if index else ""
            if text == "{":
                depth += 1
                if pending:
                    scopes.append((depth, pending))
                    pending = None
            elif text == "}":
                if scopes and scopes[-1][0] == depth:
                    scopes.pop()
                depth -= 1
            elif text == "extension" and re.match(r"[A-Z]", following):
                pending = tuple(self.chain(index + 1)[0])
            elif text in KINDS and previous != "." and re.match(r"[A-Z]", following):
                pending = "type"
            elif text in ("func", "var", "let", "case") and previous != "." and re.match(r"[a-z_]", following):
                modifiers = {text for text, _ in self.tokens[max(0, index - 4) : index]}
                is_member = scopes and scopes[-1][0] == depth and scopes[-1][1] != "type" and text != "case"
                is_hidden = modifiers & {"private", "fileprivate"}
                yield following, scopes[-1][1] if is_member and not is_hidden else None

    def uses(self, names):
        """Each of these names behind a point, and its line."""
        for index, (text, line) in enumerate(self.tokens):
            if text in names and index and self.tokens[index - 1][0] == ".":
                yield text, line

    def chain(self, index):
        names = [self.tokens[index][0]]
        while (
            index + 2 < len(self.tokens)
            and self.tokens[index + 1][0] == "."
            and re.match(r"[A-Z]", self.tokens[index + 2][0])
        ):
            index += 2
            names.append(self.tokens[index][0])
        return names, index + 1


class Module:
    def __init__(self, path):
        self.path = path
        self.files = [File(file, path) for file in sorted(path.rglob("*.swift"))]
        self.folders = sorted({file.folder for file in self.files})
        self.types = {}
        for file in self.files:
            file.read(self.declare, lambda *_: None)
        self.arrows = collections.defaultdict(list)
        for file in self.files:
            file.read(lambda *_: None, self.mention)

    def add_members(self, owners):
        """Adds the uses of members in extensions. `owners` has the folders of all modules that declare a name."""
        members = {}
        for file in self.files:
            for name, extended in file.members():
                if extended is None or len(owners[name]) > 1:
                    continue
                declared = self.types.get(extended) or self.types.get(extended[:1]) or []
                if file.folder not in {owner.folder for owner, _ in declared if owner}:
                    members[name] = (file.folder, ".".join(extended))
        for file in self.files:
            for name, line in file.uses(members):
                folder, extended = members[name]
                if folder != file.folder:
                    self.arrows[file.folder, folder].append(
                        Mention(file.path.relative_to(ROOT), line, f"{extended}.{name}"))

    def declare(self, path, file, names):
        # Private types of the same name may be in several files.
        self.types.setdefault(path, []).append((file, names))

    def mention(self, chain, file, line, scopes):
        outer = scopes[-1][1] if scopes else ()
        for count in range(len(outer), -1, -1):
            # The generic parameters of an extended type hide types, too.
            around = outer[:count]
            if any(chain[0] in names for _, names in self.types.get(around, ())) and around:
                return
            path = around + (chain[0],)
            if path in self.types:
                break
        else:
            return
        for name in chain[1:]:
            if path + (name,) not in self.types:
                break
            path += (name,)
        folders = {owner.folder if owner else None for owner, _ in self.types[path]}
        if file.folder in folders or len(folders) > 1 or None in folders:
            return
        self.arrows[file.folder, folders.pop()].append(
            Mention(file.path.relative_to(ROOT), line, ".".join(path)))

    def cycles(self):
        """Sets of folders that reach one another."""
        after = {folder: {to for source, to in self.arrows if source == folder} for folder in self.folders}

        def reached(folder):
            seen, waiting = set(), [folder]
            while waiting:
                for to in after[waiting.pop()] - seen:
                    seen.add(to)
                    waiting.append(to)
            return seen

        reach = {folder: reached(folder) for folder in self.folders}
        sets = {frozenset(other for other in reach[folder] if folder in reach[other]) for folder in self.folders}
        return sorted(sorted(found) for found in sets if found)


def shortest(module, folders):
    """The shortest cycle among these folders, as a list of arrows."""
    best = None
    for start in folders:
        ways = {start: []}
        waiting = collections.deque([start])
        while waiting:
            folder = waiting.popleft()
            for to in folders:
                if (folder, to) not in module.arrows:
                    continue
                way = ways[folder] + [(folder, to)]
                if to == start:
                    if best is None or len(way) < len(best):
                        best = way
                    waiting.clear()
                    break
                if to not in ways:
                    ways[to] = way
                    waiting.append(to)
    return best


def main():
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    is_all = "--all" in sys.argv
    modules = [Module(path) for path in sorted((ROOT / "Sources").iterdir()) if any(path.rglob("*.swift"))]
    owners = collections.defaultdict(set)
    for module in modules:
        for file in module.files:
            for name, _ in file.members():
                owners[name].add((module.path, file.folder))
    failed = False
    for module in modules:
        path = module.path
        if arguments and path.name not in arguments or len(module.folders) < 2:
            continue
        module.add_members(owners)
        print(path.name)
        for (source, to), mentions in sorted(module.arrows.items()):
            example = mentions[0]
            print(f"  {source} → {to}: {len(mentions)}, {example.name} in {example.path.name}:{example.line}")
        sys.stdout.flush()
        for folders in module.cycles():
            failed = True
            print(f"{path.name}: these folders point at one another: {', '.join(folders)}", file=sys.stderr)
            cycle = shortest(module, folders)
            print("  " + " → ".join([source for source, _ in cycle] + [cycle[0][0]]), file=sys.stderr)
            weakest = min(cycle, key=lambda arrow: len(module.arrows[arrow]))
            inside = [arrow for arrow in sorted(module.arrows) if set(arrow) <= set(folders)]
            for arrow in inside if is_all else [weakest]:
                print(f"  {arrow[0]} → {arrow[1]}:", file=sys.stderr)
                for mention in module.arrows[arrow]:
                    print(f"    {mention.path}:{mention.line}: {mention.name}", file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
