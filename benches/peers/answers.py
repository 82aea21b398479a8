"""Who answers the questions of cobras-ts, whose own answers cannot be had without a web server."""


class Classes:
    """Answers from the classes."""

    def __init__(self, classes):
        self.classes = classes

    def query_points(self, i, j):
        return self.classes[i] == self.classes[j]

    def update_clustering(self, clustering):
        pass

    def continue_cluster_process(self):
        return True
