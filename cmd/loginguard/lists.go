package main

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/spf13/cobra"

	"loginguard/cmd/loginguard/config"
	"loginguard/netprefix"
)

func (p *program) listsCommand() *cobra.Command {
	var asJSON bool
	check := &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Read list files and say what is in them",
		Long: "Reads list files of networks, one block or address a line, and shows how many blocks they have, how\n" +
			"many are left when adjacent and overlapping ones are merged, and the largest of each family.\n\n" +
			"Without a FILE it reads those of the configuration, and finds blocks that are in two classes, too.\n\n" +
			"Exit status: 0 all are right, 1 one has an error, which is shown with file and line, or there is no\n" +
			"configuration, 2 the command is wrong.",
		Example: "  loginguard lists check\n" +
			"  loginguard lists check hosting.txt carriers.txt\n" +
			"  loginguard lists check --json | jq '.files[] | select(.blocks == 0)'",
		RunE: func(c *cobra.Command, files []string) error {
			if len(files) == 0 {
				return p.checkConfiguredLists(asJSON)
			}
			if name := p.givenSetting(c); name != "" {
				return usageError{fmt.Errorf("%s is for the files of the configuration: leave it out, or the FILEs", name)}
			}
			return p.checkLists(listFiles(files), asJSON)
		},
	}
	p.settingFlags(check)
	jsonFlag(check, &asJSON)
	return group("lists", "Check and make list files of networks", check, p.importCommand())
}

// listFile is one list file and what its blocks are. Class and Pool are empty
// where that is not known.
type listFile struct {
	File  string `json:"file"`
	Class string `json:"class"` // exempt, pool or hosting
	Pool  string `json:"pool"`  // name of a pool, "" when each range is one
}

// summary is what is in a list file, for scripts.
type summary struct {
	listFile
	Blocks     int    `json:"blocks"`     // as listed, doubles included
	Aggregated int    `json:"aggregated"` // when adjacent and overlapping ones are merged
	IPv4       int    `json:"ipv4"`       // of the blocks
	IPv6       int    `json:"ipv6"`
	Largest4   string `json:"largest_ipv4"` // "" when there is none
	Largest6   string `json:"largest_ipv6"`
}

// listFault is one thing that is wrong in a list file, for scripts.
type listFault struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // 0 for the file as a whole
	Message string `json:"message"`
}

// listFiles are files of no known class.
func listFiles(names []string) []listFile {
	var list []listFile
	for _, name := range names {
		list = append(list, listFile{File: name})
	}
	return list
}

// configuredLists are the files of a configuration, in its order.
func configuredLists(n config.Networks) []listFile {
	var list []listFile
	add := func(class, pool string, files []string) {
		for _, name := range files {
			list = append(list, listFile{File: name, Class: class, Pool: pool})
		}
	}
	add(netprefix.Exempt.String(), "", n.Exempt.Files)
	for _, pool := range n.Pools {
		add(netprefix.InPool.String(), pool.Name, pool.Files)
	}
	add(netprefix.InPool.String(), "", n.PoolFiles)
	add(netprefix.Hosting.String(), "", n.Hosting.Files)
	return list
}

// checkConfiguredLists checks the files that the configuration names. That they
// can be read, and that no block is in two classes, is part of its being right.
func (p *program) checkConfiguredLists(asJSON bool) error {
	c, warnings, err := p.load()
	p.warn(warnings)
	if err != nil && asJSON {
		found := checked{Files: []summary{}, Errors: []listFault{}}
		for _, m := range verdictOf(nil, err).Mistakes {
			found.Errors = append(found.Errors, listFault{File: m.Source, Line: m.Line, Message: strings.TrimPrefix(m.Path+": "+m.Message, ": ")})
		}
		return found.print(p.stdout)
	}
	if err != nil {
		return mistakes(err)
	}
	lists := configuredLists(c.Networks)
	if len(lists) == 0 && !c.FromFile() {
		// The default file may be missing for the service. Here it would mean
		// that a script in the wrong directory is told that all is right.
		err := fmt.Errorf("%s is missing or has no keys, so that no list file is named: give --config FILE, or the list files themselves", p.file())
		if asJSON {
			return checked{Files: []summary{}, Errors: []listFault{{File: p.file(), Message: err.Error()}}}.print(p.stdout)
		}
		return err
	}
	return p.checkLists(lists, asJSON)
}

// checked is what a check found, for scripts. Lists are never null.
type checked struct {
	Files  []summary   `json:"files"` // those that are right
	Errors []listFault `json:"errors"`
}

// print prints it, and ends with the status of a failure if there was one.
func (c checked) print(w io.Writer) error {
	if err := writeJSON(w, c); err != nil {
		return err
	}
	if len(c.Errors) > 0 {
		return exitStatus(exitFailure)
	}
	return nil
}

// checkLists reads list files and prints what is in them and what is wrong.
func (p *program) checkLists(files []listFile, asJSON bool) error {
	found := checked{Files: []summary{}, Errors: []listFault{}}
	var refused error
	for _, f := range files {
		blocks, err := netprefix.ReadList(f.File)
		if err != nil {
			refused = errors.Join(refused, err)
			found.Errors = append(found.Errors, faultsOf(f.File, err)...)
			continue
		}
		found.Files = append(found.Files, summarise(f, blocks))
	}
	if asJSON {
		return found.print(p.stdout)
	}
	if err := p.writeSummaries(found.Files, len(files)); err != nil {
		return err
	}
	if refused != nil {
		return fmt.Errorf("list files are refused\n%w", refused)
	}
	return nil
}

// faultsOf lays out what [netprefix.ReadList] complains about.
func faultsOf(file string, err error) []listFault {
	var faults netprefix.Errors
	if !errors.As(err, &faults) {
		return []listFault{{File: file, Message: err.Error()}}
	}
	var list []listFault
	for _, f := range faults {
		list = append(list, listFault{File: file, Line: f.Line, Message: f.Msg})
	}
	return list
}

// summarise counts what is in a file.
func summarise(f listFile, blocks []netip.Prefix) summary {
	s := summary{listFile: f, Blocks: len(blocks), Aggregated: len(netprefix.Aggregate(blocks))}
	var largest [2]netip.Prefix
	for _, b := range blocks {
		family := 0
		if b.Addr().Is4() {
			s.IPv4++
		} else {
			s.IPv6++
			family = 1
		}
		if l := &largest[family]; !l.IsValid() || b.Bits() < l.Bits() {
			*l = b
		}
	}
	if largest[0].IsValid() {
		s.Largest4 = largest[0].String()
	}
	if largest[1].IsValid() {
		s.Largest6 = largest[1].String()
	}
	return s
}
