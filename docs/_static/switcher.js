// The list of versions lies at the root of the site.  The theme finds the root only in addresses that end in .html.
// A page that was opened from a folder may not read other files: it names its own version, and offers no others.
if (location.protocol === "file:") {
  delete DOCUMENTATION_OPTIONS.theme_switcher_json_url;
} else {
  const root = new URL(document.documentElement.dataset.content_root, location.href);
  DOCUMENTATION_OPTIONS.theme_switcher_json_url = new URL("_static/switcher.json", root).href;
}
