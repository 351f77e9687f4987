"""Speed, as ratios against another way of doing the same work, measured in the same run."""
