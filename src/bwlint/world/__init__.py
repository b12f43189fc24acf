"""The scanned tree as one program: modules, gates with their sets, builds, callers.

Which chips get somewhere, and which of them does it work on? One door for each question; rules go through
`judging.context.Context` and `judging.evidence.Evidence`, which stand in front of these.

=============================================================  =========================================================
question                                                       door
=============================================================  =========================================================
**A gate of the running program**
on which chips does it hold, surely or perhaps?                `tree.Tree.sets` (may, must, core, live, raises)
who is on its working side?                                    `gates.Judged.admitted`, `.may`, `.must`
who may take this side of it, who is not kept from it?         `gates.Judged.on`, `.let_through`
**A place in a file**
who gets to it through the gates around it?                    `Context.let_to`; asked for, too: `Context.let_in`
who gets to a use behind a gate, through all gates around it?  `Context.reach`
who gets to the function around it, through all its callers?   `arrivals.Arrivals.arriving`
which targets compile it, by the tests of the preprocessor?    `tree.Tree.compiled`, `.surely_compiled`
who gets to a test, through what runs before it?               `prepared.Preparations.let_in`
**A guard of the preprocessor**
for which targets does it hold, and which chips load those?    `tree.Tree.target_sets`; `judging.guards.Guarded.chips`
for which targets is a macro defined?                          `tree.Tree.defined_for`
**A build**
which builds compile a file?                                   `builds.Builds.of`, `.placed`
which targets does a carry make, which chips run them?         `builds.built`, `builds.runs_on`
**A definition or the use of a name**
what is behind it, and on which chips does that work?          `proofs.Graph.works`, `.proofs`, `.agreed`
which definitions may a Python name mean, or a C++ one?        `definitions.Definitions.definition`; `native.Native`
what does it refuse by itself?                                 `refusals.Refusals.of`, `.errors`
which chips pass the checks above a place of its body?         `refusals.Refusals.passing`
what does a library of that name need?                         `libraries.Libraries.need`, `.works`, `.by_name`
**A side of a gate**
what is behind it, and on which chips does that work?          `judging.evidence.Evidence.of`
what do other gates of the tree say of the same thing?         `judging.siblings.admits`, `.peer`
**An instruction, an amount**
which targets assemble it?                                     `judging.legality.legal`, `.slow`
which targets get to what asks for bytes or threads?         `judging.amounts.Asked.targets`
=============================================================  =========================================================

`may` is where something is not ruled out, `must` where it is sure whatever is not known. Chips are compute capabilities
(`ChipSet`), targets are names with a suffix (`TargetSet`); `TargetSet.chips` and `.native` lead from one to the other.
"""
