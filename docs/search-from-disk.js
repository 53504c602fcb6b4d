/* A page that is opened from disk may start no worker, and the search is one. There it runs in a
   frame that nobody sees: what it would say to a worker's page it says to `Worker`, and the reverse.
   A page from a web server has the browser's own. */
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    #inside;
    #loaded;

    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.#inside = frame.contentWindow;
      this.#inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.#inside.importScripts = (...urls) => Promise.all(urls.map((one) => this.#load(one)));
      this.#loaded = this.#load(url);
    }

    /* Messages wait for the script that hears them, in their order. */
    postMessage(data) {
      this.#loaded.then(() =>
        this.#inside.dispatchEvent(new this.#inside.MessageEvent("message", { data })),
      );
    }

    #load(url) {
      const script = this.#inside.document.createElement("script");
      return new Promise((done, failed) => {
        script.onload = done;
        script.onerror = failed;
        script.src = url;
        this.#inside.document.body.append(script);
      });
    }
  };
}
