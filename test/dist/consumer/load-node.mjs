import 'fullmcp/node';
