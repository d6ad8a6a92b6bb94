"""Speed next to other packages: ours and a peer by turns, each in a process of its own."""
