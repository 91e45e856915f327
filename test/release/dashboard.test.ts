/** The page, all of it in one file: Chromium starts once. `-t` picks a test. */
import './dashboard/rules';
import './dashboard/figures';
import './dashboard/states';
import './dashboard/why';
import './dashboard/workers';
