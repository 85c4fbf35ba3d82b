// Runs the code that docs/testing.md shows: these files are tests themselves.
import '../../../examples/testing/agent.test.js';
import '../../../examples/testing/cheapest.test.js';
import '../../../examples/testing/events.test.js';
import '../../../examples/testing/matchers.test.js';
import '../../../examples/testing/middleware.test.js';
import '../../../examples/testing/notebook.test.js';
import '../../../examples/testing/shop.test.js';
