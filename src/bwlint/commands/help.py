"""How --help is laid out: options in groups, and each command with its first sentence."""

from __future__ import annotations

import click

_GROUPS = (
    ("What to look for", ("target", "select", "ignore", "severity", "kind", "row_forms", "subject", "top", "staged")),
    ("Report", ("forms", "output", "group_by", "full", "sarif_root", "color", "statistics", "quiet", "verbose")),
    ("Repair", ("fix", "unsafe_fixes", "show_diff", "interactive", "patches", "add_suppressions")),
    ("Only what is new", ("baseline", "no_baseline", "since", "trace", "decisions", "decide", "reason", "prune")),
    ("Which files", ("exclude", "include", "force_exclude", "no_ignore", "stdin_filename", "config", "isolated")),
    ("The run", ("jobs", "link_budget", "no_cache")),
    ("Exit code", ("fail_on", "exit_zero", "strict", "exit_non_zero_on_fix")),
)
"""Headings of help, and the options below each."""
_MANY = 15
"""Options that one list shows well."""


class GroupedCommand(click.Command):
    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = (one for one in self.get_params(ctx) if isinstance(one, click.Option))
        records = ((one.name, one.get_help_record(ctx)) for one in options)
        left = {name: record for name, record in records if record is not None}
        for title, names in _GROUPS if len(left) > _MANY else ():
            if rows := [left.pop(name) for name in names if name in left]:
                with formatter.section(title):
                    formatter.write_dl(rows)
        with formatter.section("Options"):
            formatter.write_dl(list(left.values()))


def of_commands(group: click.Group, ctx: click.Context) -> list[tuple[str, str]]:
    """The commands of a group, each with the whole first sentence of its help."""
    found = ((name, group.get_command(ctx, name)) for name in group.list_commands(ctx))
    return [(name, one.get_short_help_str(limit=400)) for name, one in found if one is not None and not one.hidden]
