import 'fullmcp';
import 'fullmcp/http';
import 'fullmcp/websocket';

console.log('loaded');
