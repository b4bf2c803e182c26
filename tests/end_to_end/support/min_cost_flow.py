"""An independent min-cost-flow solver: successive shortest paths by Bellman-Ford, for small DIMACS instances."""

from collections import deque


def read_dimacs(text):
    supply, arcs = {}, []
    for line in text.splitlines():
        kind, *numbers = line.split()
        if kind == "n":
            supply[int(numbers[0])] = int(numbers[1])
        elif kind == "a":
            tail, head, _, capacity, cost = map(int, numbers)
            arcs.append((tail, head, capacity, cost))
    return supply, arcs


def residual_graph(supply, arcs):
    """Edges as [head, room, cost], each even one followed by its reverse; and the edges out of each node."""
    edges, out = [], {node: [] for node in list(supply) + ["source", "sink"]}

    def add(tail, head, room, cost):
        out[tail].append(len(edges))
        edges.append([head, room, cost])
        out[head].append(len(edges))
        edges.append([tail, 0, -cost])

    for tail, head, capacity, cost in arcs:
        add(tail, head, capacity, cost)
    for node, amount in supply.items():
        if amount > 0:
            add("source", node, amount, 0)
        elif amount < 0:
            add(node, "sink", -amount, 0)
    return edges, out


def cheapest_path(edges, out):
    distance, via = {"source": 0}, {}
    queue, queued = deque(["source"]), {"source"}
    while queue:
        node = queue.popleft()
        queued.discard(node)
        for index in out[node]:
            head, room, cost = edges[index]
            if room > 0 and distance[node] + cost < distance.get(head, float("inf")):
                distance[head] = distance[node] + cost
                via[head] = index
                if head not in queued:
                    queued.add(head)
                    queue.append(head)
    return distance.get("sink"), via


def min_cost(text):
    """The least cost that carries every supply to a demand."""
    supply, arcs = read_dimacs(text)
    edges, out = residual_graph(supply, arcs)
    wanted = sum(amount for amount in supply.values() if amount > 0)
    carried = total = 0
    while carried < wanted:
        distance, via = cheapest_path(edges, out)
        if distance is None:
            raise ValueError("the supplies cannot reach the demands")
        path, node = [], "sink"
        while node != "source":
            path.append(via[node])
            node = edges[via[node] ^ 1][0]
        amount = min(edges[index][1] for index in path)
        for index in path:
            edges[index][1] -= amount
            edges[index ^ 1][1] += amount
        carried += amount
        total += amount * distance
    return total
