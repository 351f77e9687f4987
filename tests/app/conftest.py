"""What makes a thousand runs of pages quick."""

from functools import cache

from streamlit.components.v2 import manifest_scanner

# AppTest reads the metadata of every installed package on each run, to find components: most of a
# run's time, and always the same answer.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
