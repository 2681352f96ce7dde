"""Graphs of users: what files and networkx objects hold, what is refused, and what kernels make of them."""

import json
import re

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import simtmm
from simtmm.errors import KernelError
from simtmm.graph import measures, opened, opened_graph
from simtmm.kernel import load_kernel
from tests.examples import examples
from tests.recorder.conftest import needs_compiler

EDGES = [(0, 1, 4), (1, 2, 3), (2, 0, 1), (0, 3, 7), (3, 3, 2), (0, 1, 2)]
ON_GRAPHS = {
    "bfs": {}, "connected-components": {}, "boruvka": {}, "apsp-minplus": {"sub_block": 4}, "apsp-johnson-heap": {},
    "apsp-johnson-array": {}, "apsp-bellman-ford": {}, "pagerank": {},
}  # fmt: skip


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def listed(graph):
    """Its edges with their weights, in order."""
    weights = [None] * len(graph) if graph.weight is None else graph.weight.tolist()
    return list(zip(graph.start.tolist(), graph.end.tolist(), weights, strict=True))


@pytest.mark.parametrize(
    "text", ["0 1 4\n1 2 3\n", "# SNAP\n0\t1\t4\n\n1\t2\t3", "% c\n0,1,4\r\n1, 2, 3\r\n", "5 7 4\n7 9 3"]
)
def test_an_edge_list_is_its_lines(tmp_path, text):
    graph = opened_graph(written(tmp_path, "g.txt", text))
    assert (graph.vertices, graph.directed, listed(graph)) == (3, True, [(0, 1, 4.0), (1, 2, 3.0)])


def test_words_name_vertices_in_the_order_in_which_they_appear(tmp_path):
    graph = opened_graph(written(tmp_path, "g.edges", "b a\na 10\n"))
    assert (graph.vertices, listed(graph)) == (3, [(0, 1, None), (1, 2, None)])


def test_whole_numbers_name_vertices_in_their_order(tmp_path):
    assert listed(opened_graph(written(tmp_path, "g.el", "10 9\n9 2\n02 10\n"))) == [
        (2, 1, None),
        (1, 0, None),
        (0, 2, None),
    ]


@pytest.mark.parametrize("directed", [False, True])
def test_what_networkx_writes_is_what_is_read(tmp_path, directed):
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    graph.add_weighted_edges_from(EDGES)
    written(tmp_path, "g.json", json.dumps(nx.node_link_data(graph)))
    taken, read = opened_graph(graph), opened_graph(str(tmp_path / "g.json"))
    assert listed(taken) == listed(read)
    assert taken.directed == read.directed == directed
    assert sorted(listed(taken.arcs())) == sorted(
        (u, v, float(data["weight"])) for u, v, data in graph.to_directed().edges(data=True)
    )
    assert taken.digest == read.digest


@pytest.mark.parametrize("symmetric", [False, True])
def test_a_matrix_that_scipy_writes_is_what_is_read(tmp_path, symmetric):
    matrix = (
        np.array([[0, 4, 0, 7], [4, 0, 3, 0], [0, 3, 0, 0], [7, 0, 0, 2]]) if symmetric else np.triu(np.ones((4, 4)))
    )
    scipy.io.mmwrite(tmp_path / "m.mtx", scipy.sparse.coo_array(matrix))
    graph = opened_graph(tmp_path / "m.mtx")
    assert graph.directed != symmetric
    dense = np.zeros((4, 4))
    arcs = graph.arcs()
    dense[arcs.start, arcs.end] = arcs.weight
    assert np.array_equal(dense, matrix)


def test_a_metis_file_has_each_edge_once(tmp_path):
    plain = opened_graph(written(tmp_path, "a.graph", "% c\n4 3\n2 3\n1\n1 4\n3\n"))
    assert listed(plain) == [(0, 1, None), (0, 2, None), (2, 3, None)]
    weighted = opened_graph(written(tmp_path, "b.metis", "3 2 011 2\n9 9 2 5\n8 8 1 5 3 6\n7 7 2 6\n"))
    assert listed(weighted) == [(0, 1, 5.0), (1, 2, 6.0)]
    assert not plain.directed
    alone = opened_graph(written(tmp_path, "c.graph", "3 1\n2\n1\n\n"))
    assert alone.vertices == 3


WRONG = [
    ("g.doc", "0 1", r"its name must end in one of \.txt"),
    ("g.txt", "", r"no edge: must have at least one"),
    ("g.txt", "0 1\n0 1 2", r"line 2: 3 columns: must be 2"),
    ("g.txt", "0", r"line 1: 1 columns: must be 2 or 3"),
    ("g.txt", "0 1 x", r"line 1: weight = 'x': must be a finite number"),
    ("g.txt", "0 1 nan", r"line 1: weight = 'nan'"),
    ("g.txt", "0 1 {'weight': 3}", r"line 1: 4 columns"),
    ("g.mtx", "0 1", r"line 1: must be %%MatrixMarket"),
    ("g.mtx", "%%MatrixMarket matrix array real general\n", r"format = 'array': must be one of coordinate"),
    ("g.mtx", "%%MatrixMarket matrix coordinate complex general\n", r"field = 'complex'"),
    ("g.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n", r"2 rows and 3 columns"),
    ("g.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n", r"line 3: entry \(1, 3\)"),
    ("g.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n", r"1 entries: must be 2"),
    ("g.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", r"row >= column"),
    ("g.graph", "2 1\n2\n", r"1 lines of vertices: must be 2"),
    ("g.graph", "2 1\n2\n2\n", r"line 3: neighbour 2: must be another vertex"),
    ("g.graph", "3 1\n2\n1 3\n\n", r"edge from 2 to 3: must be in the lines of both"),
    ("g.graph", "2 2\n2\n1\n", r"1 edges: must be 2"),
    ("g.graph", "2 1 001\n2 5\n1 6\n", r"with the same weight"),
    ("g.json", "{", r"is not JSON"),
    ("g.json", "[]", r"must be an object"),
    (
        "g.json",
        '{"nodes": [{"id": 1}, {"id": 1}], "edges": [{"source": 1, "target": 1}]}',
        r"id = 1: appears more than once",
    ),
    ("g.json", '{"nodes": [{"id": 1}], "edges": [{"source": 1, "target": "1"}]}', r"target = '1': must be the id"),
    ("g.json", '{"nodes": [{"id": 1}], "edges": []}', r"edges: must be a list of 1"),
]


@pytest.mark.parametrize(("name", "text", "message"), WRONG)
def test_what_is_wrong_with_a_file_is_said_in_a_line(tmp_path, name, text, message):
    with pytest.raises(KernelError, match=message) as refused:
        opened_graph(written(tmp_path, name, text))
    assert "\n" not in str(refused.value)
    assert str(tmp_path / name) in str(refused.value)


def test_a_graph_is_itself_and_a_list_that_begins_as_a_matrix_is_one(tmp_path):
    matrix = opened_graph(
        written(tmp_path, "g.txt", "%%MatrixMarket matrix coordinate integer general\n3 3 1\n3 1 9\n")
    )
    assert (matrix.vertices, listed(matrix)) == (3, [(2, 0, 9.0)])
    assert opened_graph(matrix) is matrix


def test_empty_lines_around_a_metis_file_are_none_of_it(tmp_path):
    found = opened_graph(written(tmp_path, "a.graph", "\n\n3 1\n2\n1\n\n\n\n"))
    assert (found.vertices, listed(found)) == (3, [(0, 1, None)])


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ((1, "2"), "edge from 'b' to 'c': weight = '2': must be a finite number"),
        ((True, 1), "edge from 'a' to 'b': weight = True: must be a finite number"),
        ((1, float("inf")), "edge from 'b' to 'c': weight = inf: must be a finite number"),
        ((1, None), "edge from 'b' to 'c': weight = None: must be a finite number"),
        ((1, 10**400), "edge from 'b' to 'c': weight = 1000"),
        ((4, ...), "1 of 2 edges have a weight: must be all of them or none"),
    ],
)
def test_weights_of_networkx_are_finite_numbers_of_all_edges_or_of_none(weights, said):
    graph = nx.Graph()
    for ends, weight in zip(("ab", "bc"), weights, strict=True):
        graph.add_edge(*ends, **({} if weight is ... else {"weight": weight}))
    with pytest.raises(KernelError, match=f"^networkx Graph: {re.escape(said)}"):
        opened_graph(graph)


def test_a_graph_of_networkx_has_no_more_edges_than_any_other(monkeypatch):
    monkeypatch.setattr(opened, "MOST_EDGES", 2)
    assert len(opened_graph(nx.path_graph(3))) == 2
    with pytest.raises(KernelError, match=r"^networkx Graph: 3 edges: must be at most 2$"):
        opened_graph(nx.path_graph(4))


@examples(100)
@given(
    directed=st.booleans(),
    vertices=st.integers(1, 9),
    pairs=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=20),
)
def test_degrees_and_diameter_are_those_of_networkx(directed, vertices, pairs):
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    graph.add_nodes_from(range(vertices))
    graph.add_edges_from(pairs)
    found = opened_graph(graph).to_dict()
    as_arcs = graph.to_directed()
    lengths = dict(nx.all_pairs_shortest_path_length(as_arcs))
    assert found["diameter"] == max(max(of.values()) for of in lengths.values())
    assert found["diameter_is_exact"]
    assert found["reached_from_0"] == len(lengths[0])
    assert found["degree"]["greatest"] == max(degree for _, degree in as_arcs.out_degree())


def test_the_diameter_of_a_large_graph_is_a_lower_bound(monkeypatch):
    graph = nx.path_graph(50)
    monkeypatch.setattr(measures, "MOST_STEPS", 0)
    found = opened_graph(graph).to_dict()
    assert (found["diameter"], found["diameter_is_exact"]) == (49, False)  # of a tree two sweeps find it


@needs_compiler
@pytest.mark.parametrize("name", ON_GRAPHS)
@pytest.mark.parametrize("directed", [False, True])
def test_a_kernel_gives_the_right_answer_on_a_graph_of_ones_own(name, directed):
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    graph.add_nodes_from("abcdefg")  # two that no edge touches
    graph.add_weighted_edges_from(("abcdefg"[u], "abcdefg"[v], w) for u, v, w in [*EDGES, (4, 0, 0)])
    trace = simtmm.record(name, ON_GRAPHS[name], graph=graph)  # a wrong answer raises
    assert trace.info.parameters["n"] == 7
    assert "degree" not in trace.info.parameters
    assert trace.info.provenance["graph"]["edges"] == 7
    assert trace.info.provenance["graph"]["directed"] == directed


@needs_compiler
def test_the_answer_is_of_that_graph():
    kernel = load_kernel("bfs").on_graph(nx.path_graph(5))
    arrays = kernel.inputs(kernel.resolve({}))
    assert arrays["first_edge"].tolist() == [0, 1, 3, 5, 7, 8]
    assert arrays["end"].tolist() == [1, 0, 2, 1, 3, 2, 4, 3]
    assert simtmm.record("bfs", graph=nx.path_graph(5)).info.launches[-1].grid == (1, 1, 1)
    assert len(simtmm.record("bfs", graph=nx.path_graph(5)).info.launches) == 10  # two a level


def test_negative_weights_are_for_kernels_that_take_them():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, -3), (1, 2, 4), (2, 0, 0)])
    assert simtmm.record("apsp-bellman-ford", graph=graph).info.events
    with pytest.raises(KernelError, match=r"edge from 0 to 1: weight = -3: this kernel takes whole numbers from 0 to"):
        simtmm.record("apsp-johnson-heap", graph=graph)
    graph[2][0]["weight"] = -2
    with pytest.raises(KernelError, match="has a cycle whose weights add up to less than 0"):
        simtmm.record("apsp-bellman-ford", graph=graph)


def test_what_draws_a_graph_can_t_be_given_with_one():
    graph = nx.path_graph(4)
    with pytest.raises(KernelError, match="parameter degree: is for a generated graph"):
        simtmm.record("bfs", {"degree": 3}, graph=graph)
    with pytest.raises(KernelError, match="kernel vector-add: does not take a graph"):
        simtmm.record("vector-add", graph=graph)
    with pytest.raises(
        KernelError, match="5,000 vertices: kernel apsp-johnson-heap takes a whole number from 2 to 4096"
    ):
        simtmm.record("apsp-johnson-heap", graph=nx.path_graph(5000))
    with pytest.raises(KernelError, match="no edge between different vertices"):
        simtmm.record("boruvka", graph=nx.Graph([(0, 0), (1, 1)]))


def test_a_graph_that_is_nothing_of_the_kind_is_refused():
    with pytest.raises(KernelError, match="must be a file or a graph of networkx"):
        opened_graph([(0, 1)])


@needs_compiler
def test_the_report_has_the_graph(tmp_path, called):
    path = written(tmp_path, "path.txt", "0 1\n1 2\n2 3\n")
    status, out, _ = called("run", "bfs", "--graph", path, "--no-what-if")
    assert status == 0
    assert "path.txt: 4 vertices, 3 edges, directed; degree 0 to 1, mean 0.75; diameter 3" in " ".join(out.split())
    document = json.loads(called("run", "bfs", "--graph", path, "--no-what-if", "--json")[1])
    assert document["graph"]["diameter"] == 3
    assert called("run", "vector-add", "--graph", path)[0] == 2


def test_a_graph_is_for_kernels_alone(tmp_path, called):
    path = written(tmp_path, "path.txt", "0 1\n")
    for words in (("run", "--graph", path), ("run", "x.parquet", "--graph", path), ("run", "x.cu", "--graph", path)):
        status, _, err = called(*words)
        assert (status, err.count("\n")) == (2, 1)
        assert "graph" in err
