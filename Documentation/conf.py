# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# How Sphinx makes HTML of these pages; "make docs" calls it and names the kernel's source,
# whose extension reads kernel-doc comments.
import logging
import os
import sys

kernel = os.environ["KOFI_KERNEL_SOURCE"]
sys.path.insert(0, os.path.join(kernel, "Documentation", "sphinx"))

project = "kOFI"
copyright = "the kOFI authors"
extensions = ["kerneldoc"]
kerneldoc_bin = os.path.join(kernel, "scripts", "kernel-doc")
kerneldoc_srctree = os.path.abspath("..")
kerneldoc_verbosity = 1
primary_domain = "c"
highlight_language = "none"
exclude_patterns = ["ABI"]
# What the kernel's headers put around declarations
c_id_attributes = ["__must_check", "__cold", "__init", "__exit"]
c_paren_attributes = ["__printf"]
html_theme = "alabaster"
html_theme_options = {"page_width": "66em", "fixed_sidebar": True}
html_sidebars = {"**": ["about.html", "navigation.html", "searchbox.html"]}
html_show_copyright = False


class TagsAreAnotherNamespace(logging.Filter):
    """In C a structure and a function may have one name, which Sphinx 5 takes for a mistake."""

    def filter(self, record):
        return "Duplicate C declaration" not in record.getMessage()


logging.getLogger("sphinx.sphinx.domains.c").addFilter(TagsAreAnotherNamespace())
