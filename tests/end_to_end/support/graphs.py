"""The graphs of the graph workloads and what is true of them, by methods that share nothing with those programs.

Answers are computed from definitions: search by a queue, Dijkstra instead of relaxing in rounds, union-find instead of
labels, sets instead of sorted lists, floating point and incoming edges instead of pushed integers.
"""

import heapq
import math
from collections import Counter, deque

MASK = (1 << 64) - 1


class Random:
    """splitmix64, as in workloads/random.h."""

    def __init__(self, state):
        self.state = state

    def below(self, bound):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        mixed = self.state
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & MASK
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & MASK
        return (mixed ^ mixed >> 31) % bound


def graph(n, degree, front_heavy=False):
    """The targets of each vertex, as in workloads/graph.h."""
    random = Random(5)
    targets = []
    for vertex in range(n):
        most = 3 * degree * (n - vertex) ** 2 // n**2 if front_heavy else degree
        draws = 3 if front_heavy else 1
        targets.append([min(random.below(n) for _ in range(draws)) for _ in range(random.below(most + 1))])
    return targets


def edge_count(targets):
    return sum(map(len, targets))


def rounded(number):
    return math.floor(number + 0.5)


def first_of_greatest(numbers):
    return max(range(len(numbers)), key=lambda i: (numbers[i], -i))


def search(targets, source):
    """Distances and numbers of shortest paths to what can be reached, nearest first."""
    distance, paths = {source: 0}, Counter({source: 1})
    queue = deque([source])
    while queue:
        vertex = queue.popleft()
        for target in targets[vertex]:
            if target not in distance:
                distance[target] = distance[vertex] + 1
                queue.append(target)
            if distance[target] == distance[vertex] + 1:
                paths[target] += paths[vertex]
    return distance, paths


def bfs(n):
    targets = graph(n, 16)
    searches = [search(targets, source)[0] for source in range(12)]
    depth = max(max(distance.values()) for distance in searches)
    reached = sum(map(len, searches))
    distances = sum(sum(distance.values()) for distance in searches)
    return f"bfs vertices {n} edges {edge_count(targets)} depth {depth} reached {reached} distances {distances}"


def betweenness(n):
    """Each vertex against each end: the share of shortest paths on which it lies, without Brandes' recursion.

    A vertex lies on the shortest paths from `source` to `end` if the distances to it and from it add up; distances and
    paths towards `end` are those of a search of the reversed graph.
    """
    targets = graph(n, 16)
    reversed_graph = reversed_edges(targets)
    from_sources = [(source, *search(targets, source)) for source in range(min(4, n))]
    centrality = [0.0] * n
    for end in range(n):
        to_end, paths_to_end = search(reversed_graph, end)
        for source, distance, paths in from_sources:
            if end == source or end not in distance:
                continue
            for vertex in to_end:
                inside = vertex not in (source, end)
                if inside and vertex in distance and distance[vertex] + to_end[vertex] == distance[end]:
                    centrality[vertex] += paths[vertex] * paths_to_end[vertex] / paths[end]
    most = first_of_greatest(centrality)
    weighted = sum(one * (vertex % 7) for vertex, one in enumerate(centrality))
    return (f"betweenness vertices {n} edges {edge_count(targets)} most {most} with {rounded(centrality[most])} "
            f"sum {rounded(sum(centrality))} weighted {rounded(weighted)}")


def reversed_edges(targets):
    sources = [[] for _ in targets]
    for vertex, ends in enumerate(targets):
        for end in ends:
            sources[end].append(vertex)
    return sources


def components(n):
    targets = graph(n, 8, front_heavy=True)
    parent = list(range(n))

    def root(vertex):
        while parent[vertex] != vertex:
            parent[vertex] = parent[parent[vertex]]
            vertex = parent[vertex]
        return vertex

    for vertex, ends in enumerate(targets):
        for end in ends:
            parent[root(vertex)] = root(end)
    members = {}
    for vertex in range(n):
        members.setdefault(root(vertex), []).append(vertex)
    largest = max(map(len, members.values()))
    labels = sum(min(component) * len(component) for component in members.values())
    return (f"components vertices {n} edges {edge_count(targets)} components {len(members)} largest {largest} "
            f"sum {labels}")


def pagerank(n):
    targets = graph(n, 16)
    sources = reversed_edges(targets)
    rank = [1 / n] * n
    for _ in range(20):
        idle = sum(rank[vertex] for vertex in range(n) if not targets[vertex])
        base = (0.15 + 0.85 * idle) / n
        rank = [base + 0.85 * sum(rank[source] / len(targets[source]) for source in sources[vertex]) for vertex in range(n)]
    most = first_of_greatest(rank)
    weighted = sum(one * (vertex % 7) for vertex, one in enumerate(rank))
    return (f"pagerank vertices {n} edges {edge_count(targets)} most {most} with {rounded(rank[most] * 1e9)} "
            f"weighted {rounded(weighted * 1e9)}")


def distances(edges, source):
    """Dijkstra's algorithm over lists of (target, weight)."""
    settled = {}
    heap = [(0, source)]
    while heap:
        distance, vertex = heapq.heappop(heap)
        if vertex not in settled:
            settled[vertex] = distance
            for target, weight in edges[vertex]:
                heapq.heappush(heap, (distance + weight, target))
    return settled


def paths(n):
    targets = graph(n, 16)
    random = Random(19)
    edges = [[(target, 1 + random.below(255)) for target in ends] for ends in targets]
    found = [distances(edges, source) for source in range(min(3, n))]
    farthest = max(max(settled.values()) for settled in found)
    return (f"paths vertices {n} edges {edge_count(targets)} reached {sum(map(len, found))} farthest {farthest} "
            f"distances {sum(sum(settled.values()) for settled in found)}")


def triangles(n):
    neighbours = [set() for _ in range(n)]
    for vertex, ends in enumerate(graph(n, 16, front_heavy=True)):
        for end in ends:
            if end != vertex:
                neighbours[vertex].add(end)
                neighbours[end].add(vertex)
    # Each triangle is found at each of its edges, from both ends.
    found = sum(len(neighbours[vertex] & neighbours[end]) for vertex in range(n) for end in neighbours[vertex])
    return f"triangles vertices {n} edges {sum(map(len, neighbours)) // 2} triangles {found // 6}"


# Each kernel with the size that `small` means.
KERNELS = {bfs: 3000, betweenness: 1000, components: 3000, pagerank: 1200, paths: 1000, triangles: 1500}
