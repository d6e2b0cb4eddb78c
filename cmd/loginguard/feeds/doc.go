// Package feeds reads the lists of address blocks that cloud providers and
// others publish, each in its own format, so that they can be written as list
// files of this program.
//
// [Parse] is the one way in. It reads a whole document that the user has
// downloaded and gives its blocks in the order in which they are written there;
// to sort or aggregate them is the caller's to do. It makes no network calls.
//
// # Strictness
//
// A feed that is read wrongly treats half a provider as homes, or half the world
// as a data centre. So a document is refused, with the line or the path in the
// JSON, when it is cut off, has a member twice, lacks the members by which its
// format is known, or has a block that is none; when a filter names something
// that the document does not have, which is mostly a misspelling; and when no
// block is left, since an empty list never replaces a good one. Members that a
// format does not name are passed over: providers add some.
package feeds
