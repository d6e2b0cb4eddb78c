// Package keys turns what a person typed at a login into the names that state
// is kept under, and makes the tokens that travel between a check and its
// report.
//
// Three types do the work, each safe for use by many goroutines at once:
//
//   - A [Canonicaliser], built once from the configuration, maps the many
//     spellings of one account name to one. Call it first: everything else
//     takes its result, and an empty result means that there is no account.
//   - A [Ring], read from the operator's secret, turns a realm and a canonical
//     name into a keyed hash ([Ring.Account]). That hash is the only form in
//     which an account reaches the store, the logs or an answer.
//   - The same ring seals and opens a [Token]: signed, of one [Kind], short
//     enough for a header, with nothing in it to read an account from.
//
// A secret is replaced by putting the new one in front of the old one: the
// first secret of a ring makes, every secret verifies. Hashes made under the
// old secret are found with [Ring.Accounts].
//
// The package keeps no state, reads no clock and does no input or output. It
// does not decide whether a token has expired, nor whether a realm exists: the
// values are there for the caller to compare. It does not judge whether a name
// is well formed either, since refusing odd names would tell a stranger which
// names are possible; odd names simply get a key like any other.
package keys
