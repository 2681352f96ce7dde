"""Rules of simtmm.rules and their promises, wrong rules, and the laws that catch them."""
