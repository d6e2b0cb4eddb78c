package store

// Put writes a raw value, for tests of what others may leave behind.
func (m *Memory) Put(key, value string, expires int64) {
	v := m.lock([]string{key})
	defer v.unlock()
	v.set(key, value, expires)
}

// Immortal returns the keys that never expire.
func (m *Memory) Immortal() []string {
	var found []string
	for i := range m.shards {
		m.shards[i].mu.Lock()
		for key, e := range m.shards[i].m {
			if e.expires <= 0 {
				found = append(found, key)
			}
		}
		m.shards[i].mu.Unlock()
	}
	return found
}
