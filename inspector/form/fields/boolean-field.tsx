import type { VNode } from 'preact';
import type { ControlProps } from '../form-context.js';

/** Yes or no. Two buttons, because a box cannot say that nothing was chosen. */
export function BooleanField({ value, onChange, id, describedBy, isRequired }: ControlProps): VNode {
  return (
    <div class="form-segments">
      {[true, false].map((choice) => (
        <label key={String(choice)} class="form-segment">
          <input
            type="radio"
            name={id}
            id={choice ? id : `${id}-no`}
            checked={value === choice}
            aria-describedby={describedBy}
            onChange={() => onChange(choice)}
            onClick={() => {
              // An optional choice can be taken back.
              if (!isRequired && value === choice) onChange(undefined);
            }}
          />
          {choice ? 'Yes' : 'No'}
        </label>
      ))}
    </div>
  );
}
