// A choice with its label.

import { useId } from "preact/hooks";

interface FieldProps {
  label: string;
  value: string | number;
  options: { value: string | number; label: string }[];
  onChange: (value: string) => void;
  hint?: string;
}

export function Field({ label, value, options, onChange, hint }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        disabled={options.length < 2}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {options.map((one) => (
          <option key={one.value} value={one.value}>
            {one.label}
          </option>
        ))}
      </select>
      {hint && <small>{hint}</small>}
    </div>
  );
}
