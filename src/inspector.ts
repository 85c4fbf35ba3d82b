// The entry `fullmcp/inspector`: the inspector of a server in its own program, in development.

export {
  inspector,
  type MountedInspector,
  type MountedInspectorOptions,
} from './inspector/mount-inspector.js';
