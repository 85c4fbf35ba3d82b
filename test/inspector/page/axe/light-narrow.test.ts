import { testEveryScreen } from '../support/every-screen.js';

testEveryScreen('light', 390);
