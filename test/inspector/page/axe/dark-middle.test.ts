import { testEveryScreen } from '../support/every-screen.js';

testEveryScreen('dark', 1024);
