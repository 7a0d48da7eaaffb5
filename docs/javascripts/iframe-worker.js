// Search on pages that are read from the disk. Browsers start no workers there, so the
// script of one runs in a hidden frame, and messages go to and fro as events.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.appendChild(frame)
      const inside = frame.contentWindow
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      this.ready = new Promise((done, failed) => {
        const script = inside.document.createElement("script")
        script.onload = done
        script.onerror = failed
        script.src = new URL(address, location.href).href
        inside.document.body.appendChild(script)
      })
      this.inside = inside
    }

    postMessage(data) {
      const message = () => new this.inside.MessageEvent("message", { data })
      this.ready.then(() => this.inside.dispatchEvent(message()))
    }

    terminate() {
      this.inside.frameElement.remove()
    }
  }
}
