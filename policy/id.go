package policy

import "loginguard/store"

// IDs returns every ID, in the order in which their buckets are charged.
func IDs() []ID {
	ids := make([]ID, 0, idCount-1)
	for id := IDAccount; id < idCount; id++ {
		ids = append(ids, id)
	}
	return ids
}

// Limit returns the name of the limit that the bucket belongs to, and the
// level of a network limit; both "" for an ID that there is not.
func (id ID) Limit() (name, level string) {
	if id < IDAccount || id >= idCount {
		return "", ""
	}
	s := &specs[buckets[id].limit]
	return s.name, s.levelName()
}

// In reports whether the bucket is charged on a lane.
func (id ID) In(lane store.Lane) bool {
	return id >= IDAccount && id < idCount && buckets[id].when&lane != 0
}
