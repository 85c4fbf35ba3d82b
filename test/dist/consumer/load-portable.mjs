import 'fullmcp';
import 'fullmcp/client';
import 'fullmcp/http';
import 'fullmcp/websocket';

console.log('loaded');
