"""Speed against peers, in one run, as ratios; the agreement of the answers stands beside every time."""
