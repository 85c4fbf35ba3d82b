import { Component, type ComponentChildren } from 'preact';
import { Button } from '../parts/controls/button.js';
import { ErrorPanel } from '../parts/error-panel.js';

interface Props {
  readonly children: ComponentChildren;
  /** The name of what is shown: when it changes, a failure is over. */
  readonly of?: string | undefined;
}

interface State {
  readonly error: unknown;
}

/** Keeps the rest of the page alive if a part of it fails. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: undefined };

  override componentDidUpdate({ of }: Props): void {
    if (of !== this.props.of && this.state.error !== undefined) this.setState({ error: undefined });
  }

  static override getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render({ children }: Props): ComponentChildren {
    const { error } = this.state;
    if (error === undefined) return children;
    return (
      <ErrorPanel
        title="This part of the page failed."
        failure={{
          code: 'page_failed',
          message: error instanceof Error ? error.message : String(error),
          advice:
            'Calls and connections are not affected. This is a fault of the inspector: please report it.',
        }}
      >
        <Button onClick={() => this.setState({ error: undefined })}>Show it again</Button>
      </ErrorPanel>
    );
  }
}
