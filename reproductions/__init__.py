"""The papers' tables and figures, made again through the public interface alone."""
