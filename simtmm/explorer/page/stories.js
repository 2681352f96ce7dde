/* Stories: a page of text, and links to what is to be seen. */
function storyPanel(stories, go) {
  const node = make("aside", { class: "story", hidden: true, "aria-label": "Story" });
  return {
    node,
    show(name) {
      const story = stories.find((each) => each.name === name);
      node.hidden = !story;
      if (!story) return;
      node.replaceChildren(
        make("h2", {}, story.title, make("button", { type: "button", class: "close", "aria-label": "Close the story", onclick: () => { node.hidden = true; } }, "\u00d7")),
        ...story.text.map((text) => make("p", {}, text)),
        make("ol", {}, ...story.shows.map((each) => make("li", {}, make("button", { type: "button", onclick: () => go(each.state, name) }, "Show"), ` ${each.words}`))),
      );
    },
  };
}
