// Package guard answers the question whether a login attempt may go ahead,
// and learns from its outcome.
//
// Make one with [New], ask [Guard.Check] before a credential is verified and
// tell [Guard.Report] after. [Guard.Explain] and [Guard.Forget] are for the
// people who operate it; [Guard.Swap] puts new rules in force.
//
// A check takes this path: resolve.go turns the request into a policy.Attempt
// (address to networks, account to keyed hash, device token to device), the
// policy lays it out as charges, the store decides them in one step, and
// decision.go reads the result. What the attempt was charged travels in its
// signed token (receipt.go), so a report needs nothing that an instance
// remembers.
//
// The package does not parse HTTP, size limits, or keep state: see packages
// handlers, policy and store.
package guard
