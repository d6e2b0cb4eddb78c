package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"time"
)

// DefaultFile is read when no file is named, if it is there.
const DefaultFile = "config.yaml"

// Load reads the configuration: the defaults, over them the file at path, the
// variables of environ ("NAME=value") and the settings of the command line.
//
// An empty path stands for [DefaultFile], which need not exist. The warnings
// are about what was ignored; they are for the log. The error is [Mistakes],
// all of them at once, whether of form, of range or between values. Nothing is
// shared with an earlier Config, and nothing is kept: calling Load again is how
// a changed file is read.
func Load(path string, environ []string, settings []Setting) (*Config, []string, error) {
	r := newReport(cmp.Or(path, DefaultFile))
	defaults, _ := schema.tree(reflect.ValueOf(*Default())).(map[string]any)
	file := r.loadFile(path == "")
	schema.completeAdded(defaults, file)

	targets := schema.targets(known(defaults, file), nil)
	env := r.environment(environ, targets)
	flags := r.settings(settings, targets)
	c, err := merge(defaults, file, env, flags)
	if err != nil {
		r.refuse(place{source: r.file}, "", "%v", err)
		return nil, r.warnings, r.result()
	}
	c.fromFile = len(file) > 0
	c.blank = c.blankLists()
	c.ring = r.identitySecret(variables(environ))
	r.webhookSecret(c, variables(environ))
	r.validate(c, time.Now())
	if err := r.result(); err != nil {
		return nil, r.warnings, err
	}
	return c, r.warnings, nil
}

// loadFile returns the checked values of the file, empty if there are none.
func (r *report) loadFile(optional bool) map[string]any {
	text, err := readBounded(r.file, maxFile)
	if optional && errors.Is(err, fs.ErrNotExist) {
		r.warnings = append(r.warnings, fmt.Sprintf("%s: there is no such file, the defaults are in force", r.file))
		return map[string]any{}
	}
	if err != nil {
		r.refuse(place{source: r.file}, "", "cannot be read: %v", reason(err))
		return map[string]any{}
	}
	root := r.parseYAML(text)
	if root == nil && len(r.mistakes) == 0 {
		r.warnings = append(r.warnings, fmt.Sprintf("%s: the file is empty, the defaults are in force", r.file))
	}
	if root == nil {
		return map[string]any{}
	}
	values, ok := r.check(schema, root, "").(map[string]any)
	if !ok {
		return map[string]any{}
	}
	return values
}

// reason leaves out the path that the error repeats.
func reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// known returns which names there are in named maps: those of both trees.
func known(defaults, file map[string]any) map[string]any {
	both := maps.Clone(defaults)
	for _, f := range schema.fields {
		names, _ := file[f.name].(map[string]any)
		if f.kind == namedKind && len(names) > 0 {
			all, _ := defaults[f.name].(map[string]any)
			all = maps.Clone(all)
			maps.Copy(all, names)
			both[f.name] = all
		}
	}
	return both
}
