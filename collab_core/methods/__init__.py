"""The methods: one file each, registered once."""
