// The entry `fullmcp/inspector`: the inspector of a server in its own program, in development.

export { type InspectorOptions, inspector, type MountedInspector } from './inspector/mount-inspector.js';
