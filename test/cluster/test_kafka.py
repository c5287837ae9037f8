"""JobCompType=jobcomp/kafka with a real slurmctld and librdkafka's own stand-in for a cluster, which speaks the protocol over the loopback network. slurm.conf(5), guide jobcomp_kafka."""
import ctypes
import json

import pytest

import harness
from harness import until
from test_job_completion import run, submit

pytestmark = pytest.mark.better_than_slurm      # a record that a broker has not taken is kept


class Message(ctypes.Structure):
    _fields_ = [("err", ctypes.c_int), ("topic", ctypes.c_void_p), ("partition", ctypes.c_int32), ("payload", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Topics:
    """A Kafka cluster of one broker, and who reads it."""

    def __init__(self, *names):
        library = self.library = ctypes.CDLL("librdkafka.so.1")
        for name, result in (("rd_kafka_conf_new", ctypes.c_void_p), ("rd_kafka_new", ctypes.c_void_p), ("rd_kafka_mock_cluster_new", ctypes.c_void_p),
                             ("rd_kafka_mock_cluster_bootstraps", ctypes.c_char_p), ("rd_kafka_topic_partition_list_new", ctypes.c_void_p),
                             ("rd_kafka_topic_partition_list_add", ctypes.c_void_p), ("rd_kafka_consumer_poll", ctypes.POINTER(Message))):
            getattr(library, name).restype = result
        self.client = self.handle(0)
        self.cluster = ctypes.c_void_p(library.rd_kafka_mock_cluster_new(self.client, 1))
        for name in names:
            assert library.rd_kafka_mock_topic_create(self.cluster, name.encode(), 1, 1) == 0
        self.servers = library.rd_kafka_mock_cluster_bootstraps(self.cluster).decode()
        self.documents = {name: [] for name in names}
        self.readers = {name: self.reader(name) for name in names}

    def handle(self, kind, **properties):
        conf = ctypes.c_void_p(self.library.rd_kafka_conf_new())
        for name, value in properties.items():
            assert self.library.rd_kafka_conf_set(conf, name.replace("_", ".").encode(), value.encode(), None, ctypes.c_size_t(0)) == 0
        return ctypes.c_void_p(self.library.rd_kafka_new(kind, conf, None, ctypes.c_size_t(0)))

    def reader(self, topic):
        reader = self.handle(1, bootstrap_servers=self.servers, group_id="test", auto_offset_reset="earliest")
        partitions = ctypes.c_void_p(self.library.rd_kafka_topic_partition_list_new(1))
        self.library.rd_kafka_topic_partition_list_add(partitions, topic.encode(), 0)
        assert self.library.rd_kafka_assign(reader, partitions) == 0
        self.library.rd_kafka_topic_partition_list_destroy(partitions)
        return reader

    def read(self, topic):
        while True:
            message = self.library.rd_kafka_consumer_poll(self.readers[topic], 100)
            if not message:
                return self.documents[topic]
            if message.contents.err == 0:
                self.documents[topic].append(json.loads(ctypes.string_at(message.contents.payload, message.contents.len)))
            self.library.rd_kafka_message_destroy(message)

    def ids(self, topic):
        return sorted(str(d["jobid"]) for d in self.read(topic))

    def set_up(self, up):
        (self.library.rd_kafka_mock_broker_set_up if up else self.library.rd_kafka_mock_broker_set_down)(self.cluster, 1)

    def end(self):
        for reader in self.readers.values():
            self.library.rd_kafka_consumer_close(reader)
            self.library.rd_kafka_destroy(reader)
        self.library.rd_kafka_mock_cluster_destroy(self.cluster)
        self.library.rd_kafka_destroy(self.client)


@pytest.fixture
def topics():
    try:
        made = Topics("test", "begun")
    except OSError:
        pytest.skip("librdkafka1 is not installed")
    yield made
    made.end()


def kafka_cluster(make_cluster, topics, params):
    cluster = make_cluster(start=False, nodes=2, gpus=0, cpus=4)
    with open(cluster.folder + "/kafka.conf", "w") as f:
        f.write("# the brokers\nbootstrap.servers=%s\nlinger.ms=5\nmessage.timeout.ms=1000\nreconnect.backoff.max.ms=500\n" % topics.servers)
    cluster.conf_lines += ["JobCompType=jobcomp/kafka", "JobCompLoc=%s/kafka.conf" % cluster.folder, "JobCompParams=" + params]
    cluster.write_lines()
    return cluster.start()


def test_starts_and_ends_are_told_once_also_when_brokers_were_away(make_cluster, topics):
    cluster = kafka_cluster(make_cluster, topics, "enable_job_start,topic_job_start=begun,send_comment")
    first, held = run(cluster, "--comment=mine", script="exit 3"), submit(cluster, "-H")
    cluster.ok("scancel", held)
    until("both ends", lambda: topics.ids("test") == sorted([first, held]))
    until("the start", lambda: topics.ids("begun") == [first])
    end, = [d for d in topics.documents["test"] if str(d["jobid"]) == first]
    start, = topics.documents["begun"]
    assert end["state"] == "FAILED" and end["exit_code"] == "3:0" and end["comment"] == "mine" and end["cluster"] == "test", end
    assert start["nodes"] == end["nodes"] and start["@start"] == end["@start"] and not {"@end", "exit_code", "cpu_hours"} & set(start), start
    topics.set_up(False)
    away = [run(cluster) for _ in range(3)]
    until("the log to say so", lambda: "JobCompLoc: " in cluster.logs(100000))
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    topics.set_up(True)
    until("what waited", lambda: topics.ids("test") == sorted([first, held] + away), 120)
    until("their starts", lambda: set(topics.ids("begun")) == set([first] + away))


def test_a_property_that_is_none_is_named_and_nothing_is_lost(make_cluster, topics):
    cluster = kafka_cluster(make_cluster, topics, "poll_interval=3")
    with open(cluster.folder + "/kafka.conf", "a") as f:
        f.write("lingerms=3\n")
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    job = run(cluster)
    until("the property in the log", lambda: "JobCompLoc: lingerms" in cluster.logs(100000))
    assert "poll_interval is not needed" in cluster.logs(100000)
    with open(cluster.folder + "/kafka.conf", "w") as f:
        f.write("bootstrap.servers=%s\n" % topics.servers)
    until("its end", lambda: topics.ids("test") == [job], 90)
    assert topics.ids("begun") == []
