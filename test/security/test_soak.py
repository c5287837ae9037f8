"""The soak in short: half a minute of one user's worst, and the other's jobs complete, no daemon grows, no node drains.
`test/security/soak --seconds 600` is the long form, which also judges times."""
import importlib.machinery
import importlib.util
import os


HERE = os.path.dirname(os.path.abspath(__file__))


def load_soak():
    loader = importlib.machinery.SourceFileLoader("soak", os.path.join(HERE, "soak"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("soak", loader))
    loader.exec_module(module)
    return module


def test_one_users_worst_beside_anothers_work(make_town):
    module = load_soak()
    town = make_town(nodes=3, cpus=128, partitions=module.PARTITIONS, conf="MinJobAge=5\nPropagatePrioProcess=1")
    soak = module.Soak(town).run(seconds=25, alone=4)
    print(soak.report())        # the times are told, and judged by the long form alone
    assert not soak.bad, soak.bad[:3]
    assert not soak.drained, town.run("sinfo", "-R").out
    assert max(soak.grown.values()) < module.MOST_GROWN, soak.grown
