// Opening a machine file of the user's own: it stays in this browser.

import { useId, useState } from "preact/hooks";

export function Opening({ onOpen }: { onOpen: (file: File) => Promise<void> }) {
  const id = useId();
  const [said, setSaid] = useState("");
  const read = async (input: HTMLInputElement) => {
    const file = input.files?.[0];
    if (!file) return;
    try {
      await onOpen(file);
      setSaid("");
    } catch (error) {
      setSaid(error instanceof Error ? error.message : String(error));
    }
    input.value = ""; // the same file can be opened again, after a change
  };
  return (
    <div class="field">
      <label for={id}>or open a machine file, which stays in this browser</label>
      <input
        id={id}
        type="file"
        accept=".toml"
        onChange={(event) => void read(event.currentTarget)}
      />
      <div role="status">{said && <pre class="error">{said}</pre>}</div>
    </div>
  );
}
