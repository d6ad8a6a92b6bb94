"""The papers, table by table."""
