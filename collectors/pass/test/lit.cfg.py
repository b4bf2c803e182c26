# The tests of the pass, for LLVM's lit (package llvm-19-tools): `TRACKWAY_PASS=.../TrackwayPass22.so lit .`
#
# The tools are those of the LLVM that the plugin's name ends in. A test that needs a newer one than 16 says
# `REQUIRES: llvm-17` (18, 19) and why.
import os
import re
import sys

import lit.formats

plugin = os.environ.get("TRACKWAY_PASS")
if not plugin or not os.path.exists(plugin):
    lit_config.fatal(f"TRACKWAY_PASS must name the pass plugin, TrackwayPass.so; it is {plugin!r}")

named = re.search(r"TrackwayPass(\d+)\.so$", os.path.realpath(plugin))
if not named:
    lit_config.fatal(f"the plugin's name must end in a version of LLVM, as in TrackwayPass22.so; it is {plugin!r}")
llvm = int(named.group(1))

config.name = f"trackway-pass-{llvm}"
config.available_features.update(f"llvm-{version}" for version in range(16, llvm + 1))
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ll", ".c", ".cpp", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.environ.get("TRACKWAY_TEST_OUTPUT") or os.path.join(os.path.dirname(plugin), "pass-tests")

config.environment["PATH"] = f"/usr/lib/llvm-{llvm}/bin" + os.pathsep + config.environment["PATH"]
config.environment.pop("TRACKWAY_PASS_OPTIONS", None)
opt = f"opt -load-pass-plugin {os.path.abspath(plugin)}"
config.substitutions += [
    ("%plugin", os.path.abspath(plugin)),
    ("%python", sys.executable),
    # The front end's own code, before any pass; and the names that its accesses get.
    ("%fresh", "-g -fstandalone-debug -w -S -emit-llvm -Xclang -disable-llvm-passes"),
    ("%names", f"{opt} -passes='trackway-attribution,verify,print<trackway-names>' -disable-output"),
    # What is left to record is what the oracle reports.
    ("%recordlabelled", f"{opt} -passes='trackway-record,verify' -S"),
    ("%record", f"{opt} -passes='function(sroa),trackway-attribution,trackway-record,verify' -S"),
    # The names after optimisation, as the recording pass sees them. It is kept out of the optimiser's pipeline itself.
    (
        "%latenames",
        f"{opt} -passes=trackway-attribution | opt -passes='default<O2>'"
        f" | {opt} -passes='verify,print<trackway-names>' -disable-output",
    ),
]
