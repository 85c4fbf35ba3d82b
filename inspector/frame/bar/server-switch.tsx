import type { VNode } from 'preact';
import { cleanLine } from '../../../src/tooling/clean.js';
import { usePopup } from '../../parts/controls/use-popup.js';
import { Icon } from '../../parts/icon.js';
import { run } from '../../state/api.js';
import { addressOf, go } from '../../state/route.js';
import { connection, connections, current, mayConnect } from '../../state/store.js';

/** The name of the server; opens the list of the others. */
export function ServerSwitch(): VNode {
  const { isOpen, box, toggle, close } = usePopup();
  const view = connection.value;
  if (view === undefined) return <strong class="frame-brand">fullmcp</strong>;
  const all = [...connections.value.values()];
  return (
    <div class="frame-switch" ref={box}>
      <button
        type="button"
        class="button quiet frame-server"
        aria-expanded={isOpen.value}
        title={cleanLine(view.address, 300)}
        onClick={toggle}
      >
        <strong>{cleanLine(view.name, 60)}</strong>
        <Icon name="down" size={12} />
        <span class="visually-hidden">Servers</span>
      </button>
      {isOpen.value && (
        <div class="frame-menu">
          {all.map(({ id, name, address, status, isFixed }) => (
            <div key={id} class="frame-menu-row">
              <button
                type="button"
                class="frame-menu-item"
                aria-current={id === view.id ? 'true' : undefined}
                onClick={() => {
                  current.value = id;
                  close();
                  go('tools');
                }}
              >
                <span
                  class={`frame-dot ${status === 'ready' ? 'ok' : status === 'failed' ? 'err' : 'old'}`}
                />
                <span class="frame-menu-name">{cleanLine(name, 60)}</span>
                <span class="label muted mono frame-menu-address">{cleanLine(address, 120)}</span>
                <span class="visually-hidden">{status}</span>
              </button>
              {!isFixed && (
                <button
                  type="button"
                  class="button quiet icon"
                  aria-label={`Disconnect ${cleanLine(name, 60)}`}
                  title="Disconnect"
                  onClick={() => void run('disconnect', { connection: id }).catch(() => undefined)}
                >
                  <Icon name="close" />
                </button>
              )}
            </div>
          ))}
          <hr />
          <a class="frame-menu-item" href={addressOf('server')} onClick={close}>
            <Icon name="server" />
            About this server
          </a>
          <a class="frame-menu-item" href={addressOf('tapes')} onClick={close}>
            <Icon name="tapes" />
            Tapes
          </a>
          {mayConnect.value && (
            <a class="frame-menu-item" href={addressOf('connect')} onClick={close}>
              <Icon name="plus" />
              Connect to another server
            </a>
          )}
        </div>
      )}
    </div>
  );
}
