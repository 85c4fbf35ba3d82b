import type { VNode } from 'preact';
import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Icon, type IconName } from '../../parts/icon.js';
import { Menu, type MenuItem } from '../../parts/popup/menu.js';
import { run } from '../../state/api.js';
import { go } from '../../state/route.js';
import { connection, connections, current, mayConnect } from '../../state/store.js';

/** The name of the server; opens the list of the others. */
export function ServerSwitch(): VNode {
  const view = connection.value;
  if (view === undefined) return <strong class="frame-brand">fullmcp</strong>;
  const servers = [...connections.value.values()].map((each) => serverItem(each, each.id === view.id));
  const places = [
    placeItem('server', 'server', 'About this server'),
    placeItem('tapes', 'tapes', 'Tapes'),
    ...(mayConnect.value ? [placeItem('connect', 'plus', 'Connect to another server')] : []),
  ].map((item, at) => ({ ...item, hasLine: at === 0 }));
  return (
    <Menu
      label="Servers"
      title={cleanLine(view.address, 300)}
      class="frame-server"
      items={[...servers, ...places]}
    >
      <strong>{cleanLine(view.name, 60)}</strong>
      <span class="visually-hidden">Servers</span>
    </Menu>
  );
}

const DOTS = {
  connecting: 'warn',
  ready: 'ok',
  reconnecting: 'warn',
  failed: 'err',
  closed: 'old',
} as const satisfies Record<ConnectionView['status'], string>;

function serverItem(
  { id, name, address, status, isFixed, revision }: ConnectionView,
  isCurrent: boolean,
): MenuItem {
  return {
    id,
    isCurrent,
    content: (
      <>
        <span class={`frame-dot ${DOTS[status]}`} />
        <span class="frame-menu-name">{cleanLine(name, 60)}</span>
        <span class="label muted mono frame-menu-address">
          {cleanLine(address, 120)} {revision}
        </span>
        <span class="visually-hidden">{status}</span>
      </>
    ),
    onPick: () => {
      current.value = id;
      go('tools');
    },
    aside: isFixed
      ? undefined
      : {
          label: `Disconnect ${cleanLine(name, 60)}`,
          icon: 'close',
          onPick: () => void run('disconnect', { connection: id }).catch(() => undefined),
        },
  };
}

function placeItem(place: string, icon: IconName, label: string): MenuItem {
  return {
    id: place,
    content: (
      <>
        <Icon name={icon} />
        {label}
      </>
    ),
    onPick: () => go(place),
  };
}
