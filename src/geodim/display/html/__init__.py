"""The report: results as one HTML file that opens offline, in any browser, from an e-mail.

`geodim.display.html.document.report` assembles it from these parts:

* `sources`: results from JSON files of any kind
* `text`: the plain words
* `figures`: the numbers that the interactive plots and tables show, as plain values
* `static`: the same plots as fixed pictures, for readers without scripts
* `sections`, `comparison`: what the parts of the page say
* `page`, `templates`: how it is laid out, every text escaped
* `assets`: the style sheet and the scripts
"""
