package store

import (
	"context"
	"slices"
	"time"
)

// Store keeps buckets and account records and changes them in atomic steps.
// [Memory] and [Redis] implement it; both run the same algorithm on the same
// values, which one conformance suite and a property test prove.
//
// Every method honours the deadline of its context. An error means that the
// outcome is not known: the caller must treat the attempt as denied. [Class]
// names the kind of failure for metrics.
type Store interface {
	// Take decides one attempt and, if it is admitted, charges it: all of its
	// buckets in one atomic step, or none of them.
	Take(ctx context.Context, t Take) (Taken, error)

	// Settle ends an attempt that Take admitted: it gives back or keeps the
	// charges and records what was learned. It applies once per marker.
	Settle(ctx context.Context, s Settle) (Settled, error)

	// Lookup reads what Take remembered under an idempotence key.
	Lookup(ctx context.Context, key string) (Remembered, error)

	// Forget clears an account's buckets, or all that is known of it.
	Forget(ctx context.Context, f Forget) error

	// Settled says, for each marker, whether an attempt was settled under it.
	// It serves the search for attempts that nobody reported.
	Settled(ctx context.Context, markers []string) ([]bool, error)

	// Ping tells whether the store answers and takes writes.
	Ping(ctx context.Context) error

	// Close releases connections and goroutines.
	Close() error
}

// Lane says on which kind of bucket an attempt is charged. It is a bit, so
// that a [Charge] can name several lanes.
type Lane uint8

// The lanes. Take picks exactly one for an attempt: a repeated wrong tag
// before all else, then a valid device, then a familiar network.
const (
	LaneDevice        Lane = 1 << iota // a device token that is still valid
	LaneFamiliar                       // no device, but a network the account signed in from
	LaneStranger                       // neither
	LaneRepeatDevice                   // the tag failed before from this very device
	LaneRepeatNetwork                  // the tag failed before from this very network
)

// Limit is the size of a bucket as the policy wants it now. All spans are
// whole microseconds; every product of Capacity and Interval, and every
// moment, stays below 2^53, so that Lua and Go agree on it.
type Limit struct {
	Capacity int64 // tokens in a full bucket; 1..1e6
	Interval int64 // microseconds in which one token comes back; 1..3.6e9

	// Waits makes the limit one with backoff: the wait that the first,
	// second, ... strike brings, the last entry serving all further ones.
	// Empty means no backoff: a dry bucket waits for its refill.
	Waits  []int64
	Forget int64 // microseconds after the last strike when all are forgotten

	// PerUser lets the capacity grow with the population of the charge:
	// millionths of a token per member, up to MaxCapacity tokens. The
	// refill grows in proportion.
	PerUser     int64
	MaxCapacity int64

	// Debt is how far beyond empty, in microseconds of refill, a debit may
	// push the bucket: one hour less the time in which the largest cost comes
	// back, so that no wait exceeds an hour.
	Debt int64
}

// Charge is one bucket that an attempt may be charged on.
type Charge struct {
	// Key names the bucket: a key of the store, or, when Field is set, a
	// field of the account's record under the key Take.Record.
	Key   string
	Field string

	Limit      Limit
	Cost       int64  // tokens; 1..Limit.Capacity
	When       Lane   // the lanes in which this bucket is charged
	LogOnly    bool   // decides nothing, is charged when it can pay
	Challenge  bool   // a passed challenge may stand in for it when it is dry
	Population string // base key of the population that sizes it, "" for none

	// Mark is what an admitted attempt is remembered to have been charged on
	// here, for its repeats; without blanks and commas.
	Mark string
}

// Remembering is one place where wrong password tags are kept: those of one
// account from one source.
type Remembering struct {
	Source string // field of the record, "" when there is no such source
	Tag    string // fingerprint of the tag that came with this attempt
}

// Take is one attempt, as the policy lays it out: which buckets, in which
// lanes, at what size. The store picks the lane by the account's record.
type Take struct {
	Record  string // key of the account's record, "" when there is no account
	Network string // name of the coarsest network in the record, "" when it can never be familiar

	Remember      int64 // microseconds for which a network stays familiar
	DeviceIssued  int64 // moment the shown device token was issued, 0 for none
	DeviceExpires int64

	// RepeatDevice and RepeatNetwork are where to look for the attempt's tag
	// among the wrong ones. Empty without a tag.
	RepeatDevice, RepeatNetwork Remembering

	Charges    []Charge
	Challenged int // index in Charges of the bucket that stands in for dry ones, -1 for none

	// Where an attempt is decided in parts, on several nodes: Lane is the lane
	// that another part has picked, 0 to pick one. With Challenged set to
	// [Elsewhere] another part holds the bucket that stands in for dry ones
	// of this part; Replace says that it must, for dry ones of another part.
	Lane    Lane
	Replace bool

	// Attempt is the new attempt's name, Idempotence the key under which an
	// admitted attempt is remembered for TTL microseconds; "" for not.
	Attempt     string
	Idempotence string
	Binding     string // what the attempt under that key must be the same in
	Note        string // kept for Lookup and repeats; Binding and Note without blanks, Note not empty
	MaxUses     int64
	TTL         int64

	// Peek reads and decides but writes nothing. Debit charges the lane's
	// buckets whether or not they can pay, into debt of at most an hour's
	// wait: for outcomes of attempts that nobody asked about.
	Peek, Debit bool

	Now int64 // microseconds since 1970 on a test's clock; 0 means the store's own
}

// Elsewhere is the Challenged of a part of an attempt whose stand-in is in
// another part.
const Elsewhere = -2

// Bucket is what became of one charge of a [Take].
type Bucket struct {
	Applies  bool  // the charge belongs to the lane of the attempt
	Dry      bool  // it cannot pay, or a wait runs
	Charged  bool  // its cost was taken
	Struck   bool  // it ran dry just now, which is one of Strikes
	Capacity int64 // tokens, population counted in
	Interval int64 // microseconds per token, population counted in
	Missing  int64 // microseconds until full, after this step
	Wait     int64 // when Dry: microseconds until it can pay
	Strikes  int64
}

// Remaining returns the whole tokens left in the bucket, at least 0.
func (b Bucket) Remaining() int64 {
	if b.Interval <= 0 {
		return 0
	}
	return max(0, b.Capacity-(b.Missing+b.Interval-1)/b.Interval)
}

// Outcome of a [Take].
type Outcome uint8

// The outcomes.
const (
	Denied   Outcome = iota // nothing was charged
	Admitted                // every charge of the lane was made
	Repeated                // the idempotence key names this very attempt: Attempt, Issued, Lane, Replaced, Marks and Note are those of the first time
	Conflict                // the idempotence key names another attempt, or was used too often
)

// Taken is the answer to a [Take].
type Taken struct {
	Outcome  Outcome
	Now      int64 // the store's clock, microseconds since 1970
	Attempt  string
	Issued   int64 // moment of the (first) admission
	Lane     Lane
	Familiar bool // the source is familiar, whichever lane is charged
	Failures int64
	Replaced bool     // the challenged bucket stood in for dry ones
	Marks    []string // of the charges that were made, when Repeated
	Note     string   // of the first time, when Repeated
	Buckets  []Bucket

	// Sources, of a denial or a look, are the entries of the account's record that put
	// an attempt on another lane than a stranger's: n: and a network that the
	// account signed in from, w: and a source that has wrong tags. nil means
	// not told. See [Taken.Stranger].
	Sources []string
}

// Stranger reports whether t, the answer to one attempt, tells that another
// one at the same account, without a device, would be a stranger's, too.
// network and wrong are Network and RepeatNetwork.Source of its [Take].
func (t Taken) Stranger(network, wrong string) bool {
	return t.Sources != nil && !slices.Contains(t.Sources, prefixNetwork+network) &&
		!(wrong != "" && slices.Contains(t.Sources, wrong))
}

// Refund is one charge that may be given back.
type Refund struct {
	Key, Field string // as in [Charge]
	Cost       int64  // tokens that were taken
}

// Settle ends an attempt.
type Settle struct {
	Marker      string // key that makes the settlement happen once; "" for an attempt that was never checked
	Idempotence string // key to free for a new attempt, "" for none
	Record      string // key of the account's record, "" when there is no account
	Issued      int64  // of the attempt; what was begun before a credential reset teaches nothing
	Expires     int64  // after it the settlement is refused; 0 for never

	Refunds []Refund // given back when Refund is set
	Refund  bool
	Learn   bool // network becomes familiar, failures are zeroed, populations grow
	Fail    bool // one more failure

	Network     string // to become familiar, "" for none
	Remember    int64  // microseconds for which it stays so
	Sources     int64  // networks kept per account, oldest use out first
	Populations []string
	Member      string // the account's name in populations

	Wrong Remembering // the wrong tag to remember with Fail, empty for none

	Now int64
}

// Settled is the answer to a [Settle].
type Settled struct {
	Applied bool // false: it was settled before
	Expired bool // nothing was done, the attempt's lifetime is over
	Stale   bool // credentials were reset since the attempt began: nothing was learned
	Now     int64
}

// Remembered is what is known of an idempotence key.
type Remembered struct {
	Found    bool
	Reported bool // the attempt was settled
	Binding  string
	Attempt  string
	Issued   int64
	Lane     Lane
	Replaced bool
	Marks    []string // of the charges that were made
	Note     string

	uses    int64 // checks that got this attempt; 0 once it was settled
	expires int64
}

// Forget names what to clear.
type Forget struct {
	Record string // account: clear its buckets ...
	// Credentials clears also failures, wrong tags and familiar networks,
	// and leaves the moment, for Keep microseconds, so that device tokens and
	// attempts from before it are dead.
	Credentials bool
	Keep        int64
	Remember    int64    // microseconds for which networks and failures are kept
	Keys        []string // ... or: delete these keys
	Now         int64
}

// Micros converts d to whole microseconds, rounded up.
func Micros(d time.Duration) int64 {
	return int64((d + time.Microsecond - 1) / time.Microsecond)
}
